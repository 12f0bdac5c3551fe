#include "app/listening_process.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/socket.h"
#include "engines/gdb/stub_thread.h"
#include "engines/peer_process.h"
#include "launch/qemu/processes.h"

namespace ringside::app {
namespace {

namespace fs = std::filesystem;

pid_t listener_at_path(const std::string& path) {
  SocketAddress address;
  address.path = path;
  return engines::listener_at(address);
}

}  // namespace

// The table has paths as they were bound: one that does not begin at the root is this one if it is
// so from the folder of its process.
pid_t listening_process(const std::string& text) {
  const auto address = SocketAddress::parse(text);
  if (!address) return 0;
  if (address->path.empty()) return engines::listener_at(*address);
  std::error_code ignored;
  const fs::path place = fs::weakly_canonical(address->path, ignored);
  if (!fs::is_socket(place, ignored)) return 0;
  if (const pid_t process = listener_at_path(place)) return process;
  const std::string name = place.filename();
  for (const std::string& spelling : {address->path, name, "./" + name}) {
    const pid_t process = listener_at_path(spelling);
    if (process == 0) continue;
    const fs::path folder = fs::read_symlink(fmt::format("/proc/{}/cwd", process), ignored);
    if (fs::weakly_canonical(folder / spelling, ignored) == place) return process;
  }
  return 0;
}

std::vector<std::string> command_line_of_qemu_at(const std::string& address) {
  const pid_t process = listening_process(address);
  if (process == 0 || !engines::gdb::is_qemu(process)) return {};
  return launch::command_line_of(process);
}

}  // namespace ringside::app
