#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/socket.h"
#include "engines/qmp/monitor.h"

namespace ringside::engines::qmp {

// The name of the socket of a stub that ringside has QEMU open.
inline constexpr const char* kOwnStub = "ringside-stub";

// The gdb stub that a guest has before ringside opens one.
struct UsersStub {
  std::string filename;  // of its character device, such as "disconnected:unix:/tmp/gdb,server=on"
  bool has_client = false;
  bool is_left_over = false;  // by a ringside that was killed
};

// Nothing where there is none. By its label, "gdb", or the one that -gdb chardev:NAME on QEMU's
// command line gives it. Errors: those of Monitor.
[[nodiscard]] Result<std::optional<UsersStub>> find_users_stub(Monitor& monitor);

// Where a stub listens, if this machine's tables of sockets show who waits for it: at a Unix
// socket's absolute path, or at a TCP port that a client of this machine reaches. `qemu`: the
// process that has to be the one that listens there. Nothing else.
[[nodiscard]] std::optional<SocketAddress> watched_address(const UsersStub& stub, pid_t qemu);

}  // namespace ringside::engines::qmp
