#include "app/default_socket.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "app/messages.h"
#include "base/socket.h"
#include "engines/socket_tables.h"

namespace ringside::app {
namespace {

// By the kernel's table: a connection to a gdb stub would stop the guest.
bool is_listened_at(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_socket(path, ignored)) return false;
  // The table has the path as QEMU's command line has it.
  const std::string name = std::filesystem::path(path).filename();
  for (const std::string& spelling : {name, "./" + name}) {
    SocketAddress address;
    address.path = spelling;
    const auto sockets = engines::server_sockets(address);
    if (std::any_of(sockets.begin(), sockets.end(),
                    [](const engines::ServerSocket& socket) { return socket.listens; }))
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
