#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace ringside {

// Where a stream socket is: a Unix socket's path, or host:port.
struct SocketAddress {
  std::string path;  // set for a Unix socket
  std::string host;
  std::string port;

  // "PATH", "unix:PATH", "HOST:PORT", ":PORT", "PORT", "tcp:HOST:PORT" or "tcp::PORT", with QEMU's
  // ",options" after it ignored, and ",," a comma. A text with a '/' is a path, and one without ':'
  // that has more than digits. Behind "unix:", or with a '/', the path of a socket that is there is
  // one, whatever it has.
  [[nodiscard]] static Result<SocketAddress> parse(const std::string& text);
  [[nodiscard]] std::string to_string() const;
};

// Sees a socket just before it is connected; with a name that has several addresses, each one's.
using BeforeConnect = std::function<Result<void>(int socket)>;

// A connected stream socket, blocking, TCP_NODELAY where that applies. Errors say what to check;
// kNotFound: nothing listens there; kTimeout: it takes no connection in time.
[[nodiscard]] Result<UniqueFd> connect_to(const SocketAddress& address,
                                          std::chrono::milliseconds timeout,
                                          const BeforeConnect& before_connect = {});

// Acknowledges at once what has come through a TCP connection, and not up to 40 ms later (tcp(7),
// TCP_QUICKACK, which holds for a while only). A peer that sends small messages without
// TCP_NODELAY, as QEMU's monitor does, keeps each until the one before is acknowledged (RFC 896).
void acknowledge_at_once(int socket);

}  // namespace ringside
