#include "base/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <memory>

namespace ringside {
namespace {

constexpr const char* kHint =
    "is the guest running, and was QEMU started with -gdb (or -s), or -qmp, at this address?";

constexpr timespec kConnectAgain{0, 5'000'000};

Result<void> connect_within(int fd, const sockaddr* address, socklen_t size,
                            std::chrono::milliseconds timeout, const std::string& name,
                            const BeforeConnect& before_connect) {
  if (before_connect) RINGSIDE_TRY(before_connect(fd));
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  const auto end = std::chrono::steady_clock::now() + timeout;
  int error = ::connect(fd, address, size) == 0 ? 0 : errno;
  // The queue of a Unix socket's server is full: nothing is under way, and nothing to poll for.
  while (error == EAGAIN && std::chrono::steady_clock::now() < end) {
    error =
        ::nanosleep(&kConnectAgain, nullptr) == 0 && ::connect(fd, address, size) == 0 ? 0 : errno;
  }
  if (error == EINPROGRESS) {
    pollfd poll_fd{fd, POLLOUT, 0};
    const int ready = ::poll(&poll_fd, 1, static_cast<int>(timeout.count()));
    socklen_t length = sizeof(error);
    if (ready == 0)
      error = EAGAIN;
    else if (ready < 0 || ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
      error = errno;
  }
  ::fcntl(fd, F_SETFL, flags);
  if (error == 0) return {};
  if (error == EAGAIN)
    return fail(ErrorCode::kTimeout, "cannot connect to {}: no answer within {} ms", name,
                timeout.count());
  const auto code =
      error == ENOENT || error == ECONNREFUSED ? ErrorCode::kNotFound : ErrorCode::kIo;
  return fail(code, "cannot connect to {}: {}; {}", name, std::strerror(error), kHint);
}

Result<UniqueFd> connect_unix(const SocketAddress& address, std::chrono::milliseconds timeout,
                              const BeforeConnect& before_connect) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (address.path.size() >= sizeof(name.sun_path))
    return fail(ErrorCode::kUsage, "socket path {} is longer than the {} bytes a Unix socket takes",
                address.path, sizeof(name.sun_path) - 1);
  address.path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  if (::access(name.sun_path, F_OK) != 0)
    return fail(ErrorCode::kNotFound, "cannot connect to {}: {}; {}", address.path,
                std::strerror(errno), kHint);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return fail_errno("socket");
  RINGSIDE_TRY(connect_within(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name),
                              timeout, address.path, before_connect));
  return fd;
}

Result<UniqueFd> connect_tcp(const SocketAddress& address, std::chrono::milliseconds timeout,
                             const BeforeConnect& before_connect) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  // A container may have no /etc/hosts; localhost is the loopback interface always (RFC 6761, 6.3).
  const char* const host = address.host == "localhost" ? nullptr : address.host.c_str();
  if (const int error = ::getaddrinfo(host, address.port.c_str(), &hints, &found); error != 0)
    return fail(ErrorCode::kNotFound, "cannot resolve {}: {}", address.to_string(),
                ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  Result<UniqueFd> last = fail(ErrorCode::kNotFound, "{} has no address", address.host);
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    UniqueFd fd(::socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.valid()) continue;
    auto connected = connect_within(fd.get(), entry->ai_addr, entry->ai_addrlen, timeout,
                                    address.to_string(), before_connect);
    if (!connected) {
      last = tl::unexpected<Error>(std::move(connected).error());
      continue;
    }
    const int one = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    acknowledge_at_once(fd.get());
    return fd;
  }
  return last;
}

// The text before QEMU's options; ",," is a comma there.
std::string without_options(std::string_view text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' && !text.substr(i).starts_with(",,")) break;
    if (text[i] == ',') ++i;
    value += text[i];
  }
  return value;
}

}  // namespace

Result<SocketAddress> SocketAddress::parse(const std::string& text) {
  const bool is_named = text.starts_with("unix:");
  const std::string named = is_named ? text.substr(5) : text;
  // A socket's path is a path, whatever it has. A port is one although a socket has that name.
  const bool is_path = is_named || text.find('/') != text.npos;
  struct stat info {};
  if (is_path && ::stat(named.c_str(), &info) == 0 && S_ISSOCK(info.st_mode))
    return SocketAddress{named, {}, {}};
  std::string rest = without_options(text);
  const bool is_tcp = rest.starts_with("tcp:");
  if (rest.starts_with("unix:")) return SocketAddress{rest.substr(5), {}, {}};
  if (is_tcp) rest.erase(0, 4);
  const std::size_t colon = rest.rfind(':');
  const bool is_port = !rest.empty() && rest.find_first_not_of("0123456789") == std::string::npos;
  if (is_port) return SocketAddress{{}, "localhost", rest};
  if (!is_tcp && (rest.find('/') != std::string::npos || colon == std::string::npos)) {
    if (rest.empty()) return fail(ErrorCode::kUsage, "empty socket address");
    return SocketAddress{rest, {}, {}};
  }
  if (colon == std::string::npos || colon + 1 == rest.size())
    return fail(ErrorCode::kUsage, "socket address '{}' has no port", text);
  std::string host = rest.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (host.empty()) host = "localhost";
  return SocketAddress{{}, host, rest.substr(colon + 1)};
}

std::string SocketAddress::to_string() const { return path.empty() ? host + ":" + port : path; }

Result<UniqueFd> connect_to(const SocketAddress& address, std::chrono::milliseconds timeout,
                            const BeforeConnect& before_connect) {
  return address.path.empty() ? connect_tcp(address, timeout, before_connect)
                              : connect_unix(address, timeout, before_connect);
}

void acknowledge_at_once(int socket) {
  const int one = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof(one));
}

}  // namespace ringside
