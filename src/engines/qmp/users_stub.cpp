#include "engines/qmp/users_stub.h"

#include <fstream>
#include <string_view>

#include "engines/peer_process.h"

namespace ringside::engines::qmp {
namespace {

constexpr std::string_view kDisconnected = "disconnected:";

// The character device that QEMU's command line gives its stub, "-gdb chardev:NAME"; else the label
// that QEMU itself gives it (gdbstub/softmmu.c, 7.2).
std::string stub_label(pid_t qemu) {
  constexpr std::string_view kDevice = "chardev:";
  std::ifstream command_line(fmt::format("/proc/{}/cmdline", qemu), std::ios::binary);
  for (std::string word; qemu > 0 && std::getline(command_line, word, '\0');) {
    if (word != "-gdb" && word != "--gdb") continue;
    if (std::getline(command_line, word, '\0') && word.starts_with(kDevice))
      return word.substr(kDevice.size());
  }
  return "gdb";
}

// A client of this machine reaches a server at any of its addresses by the loopback one.
std::string reached_at(const std::string& host) {
  if (host.empty() || host == "0.0.0.0") return "127.0.0.1";
  return host == "::" ? "::1" : host;
}

}  // namespace

Result<std::optional<UsersStub>> find_users_stub(Monitor& monitor) {
  RINGSIDE_ASSIGN(const auto devices, monitor.character_devices());
  const std::string label = stub_label(monitor.peer());
  for (const Monitor::CharacterDevice& device : devices) {
    if (device.label != label && device.label != "gdb") continue;
    const std::string_view name = device.filename;
    const bool is_free = name.starts_with(kDisconnected);
    return UsersStub{.filename = device.filename,
                     .has_client = name.starts_with("unix:") || name.starts_with("tcp:"),
                     .is_left_over = is_free && name.find(kOwnStub) != std::string_view::npos};
  }
  return std::nullopt;
}

std::optional<SocketAddress> watched_address(const UsersStub& stub, pid_t qemu) {
  if (!stub.filename.starts_with(kDisconnected)) return std::nullopt;
  const std::string place = stub.filename.substr(kDisconnected.size());
  const bool is_path = place.starts_with("unix:/");
  if (!is_path && !place.starts_with("tcp:")) return std::nullopt;
  auto address = SocketAddress::parse(place);
  if (!address) return std::nullopt;
  if (!is_path) address->host = reached_at(address->host);
  if (qemu <= 0 || listener_at(*address) != qemu) return std::nullopt;
  return *address;
}

}  // namespace ringside::engines::qmp
