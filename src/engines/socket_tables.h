#pragma once

#include <string>
#include <vector>

#include "base/socket.h"

namespace ringside::engines {

// Look-ups in the kernel's tables of sockets: /proc/net/unix, tcp and tcp6.

// A socket on the server's side of an address.
struct ServerSocket {
  std::string inode;     // "0": a connection that nobody has accepted yet
  bool listens = false;  // else it is a connection
};

// The sockets at an address of this machine; none at another machine's.
[[nodiscard]] std::vector<ServerSocket> server_sockets(const SocketAddress& address);

// The inode of the other end of a TCP connection, where both are on this machine; else empty.
[[nodiscard]] std::string inode_of_tcp_peer(int socket);

}  // namespace ringside::engines
