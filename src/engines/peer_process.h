#pragma once

#include <sys/types.h>

#include "base/socket.h"

namespace ringside::engines {

// Which process of this machine is at the other end of a socket, by the kernel's tables of sockets
// (/proc/net) and the files that each process has open (/proc/PID/fd). 0 where that cannot be
// determined: another machine's process, another user's, one of another network namespace, nobody.

// The process that listens at an address.
[[nodiscard]] pid_t listener_at(const SocketAddress& address);

// The process that has the other end of a connected stream socket. For a Unix socket it is the one
// that listens, which may have passed the connection on. For a TCP socket it is the one that has
// accepted it; before that nobody has.
[[nodiscard]] pid_t process_behind(int socket);

}  // namespace ringside::engines
