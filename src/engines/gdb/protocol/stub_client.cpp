#include "engines/gdb/protocol/stub_client.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "engines/socket_tables.h"

namespace ringside::engines::gdb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollInterval{20};

bool is_waiting(const ServerSocket& socket) { return !socket.listens && socket.inode == "0"; }

}  // namespace

bool has_client(const SocketAddress& address) {
  bool listens = false;
  bool serves = false;
  for (const ServerSocket& socket : server_sockets(address)) {
    listens |= socket.listens;
    serves |= !socket.listens && !is_waiting(socket);
  }
  return listens && serves;
}

bool has_waiting_client(const SocketAddress& address) {
  const auto sockets = server_sockets(address);
  return std::any_of(sockets.begin(), sockets.end(), is_waiting);
}

Result<void> wait_until_free(const SocketAddress& address, const Patience& patience) {
  const auto end = Clock::now() + patience.timeout;
  while (has_client(address)) {
    if (Clock::now() >= end || patience.over())
      return fail(ErrorCode::kTimeout,
                  "the gdb stub at {} serves another client, a debugger or another ringside, and "
                  "takes one at a time: end that one first (the guest was not touched)",
                  address.to_string());
    std::this_thread::sleep_for(kPollInterval);
  }
  return {};
}

}  // namespace ringside::engines::gdb
