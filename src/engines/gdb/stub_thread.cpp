#include "engines/gdb/stub_thread.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "engines/peer_process.h"

namespace ringside::engines::gdb {

bool is_qemu(pid_t process) {
  const std::filesystem::path folder = "/proc/" + std::to_string(process);
  // Readable for its own user and for root only; QEMU may have changed the name (-name process=).
  std::error_code error;
  const auto program = std::filesystem::read_symlink(folder / "exe", error);
  if (!error) return program.filename().string().starts_with("qemu");
  std::string name;
  std::getline(std::ifstream(folder / "comm"), name);
  return name.starts_with("qemu");
}

pid_t stub_thread_behind(int socket) {
  const pid_t peer = process_behind(socket);
  return peer > 0 && is_qemu(peer) ? peer : 0;
}

}  // namespace ringside::engines::gdb
