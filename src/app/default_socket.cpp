#include "app/default_socket.h"

#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "app/messages.h"
#include "base/socket.h"
#include "engines/peer_process.h"

namespace ringside::app {
namespace {

// By the kernel's table: a connection to a gdb stub would stop the guest. The table has paths as
// they were bound, so one that does not begin at the root is of this folder if its process is.
bool is_listened_at(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_socket(path, ignored)) return false;
  const fs::path here = fs::current_path(ignored);
  const std::string name = fs::path(path).filename();
  const auto listener = [](const std::string& spelling) {
    SocketAddress address;
    address.path = spelling;
    return engines::listener_at(address);
  };
  if (listener((here / name).string()) != 0) return true;
  for (const std::string& spelling : {name, "./" + name}) {
    const pid_t process = listener(spelling);
    if (process != 0 && fs::read_symlink(fmt::format("/proc/{}/cwd", process), ignored) == here)
      return true;
  }
  return false;
}

}  // namespace

Result<void> take_default_socket(SamplingSettings& settings) {
  const bool has_stub = is_listened_at(kOsdkSocket);
  const bool has_monitor = is_listened_at(kQmpSocket);
  if (has_stub && has_monitor)
    return fail(ErrorCode::kUsage,
                "which guest? One listens at {0} and one at {1}: give --remote {0} or --qmp {1}",
                kOsdkSocket, kQmpSocket);
  if (has_stub) {
    settings.gdb = kOsdkSocket;
    settings.is_osdks = true;
    say(std::string("ringside: attaching to the gdb stub at ") + kOsdkSocket);
  } else if (has_monitor) {
    settings.qmp = kQmpSocket;
    say(std::string("ringside: attaching to the monitor at ") + kQmpSocket);
  }
  return {};
}

}  // namespace ringside::app
