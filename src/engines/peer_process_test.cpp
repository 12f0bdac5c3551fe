#include "engines/peer_process.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/fd.h"
#include "base/testing/time_limits.h"

namespace ringside::engines {
namespace {

TEST(PeerProcess, FindsWhoListens) {
  std::string folder = std::filesystem::temp_directory_path() / "ringside-witness-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  (folder + "/s").copy(name.sun_path, sizeof(name.sun_path) - 1);
  const UniqueFd on_unix(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(on_unix.get(), reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
  EXPECT_EQ(listener_at({folder + "/s", {}, {}}), 0);  // not yet
  ASSERT_EQ(::listen(on_unix.get(), 1), 0);
  EXPECT_EQ(listener_at({folder + "/s", {}, {}}), ::getpid());
  EXPECT_EQ(listener_at({folder + "/other", {}, {}}), 0);

  const UniqueFd on_tcp(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(any);
  ASSERT_EQ(::bind(on_tcp.get(), reinterpret_cast<sockaddr*>(&any), size), 0);
  ASSERT_EQ(::listen(on_tcp.get(), 1), 0);
  ASSERT_EQ(::getsockname(on_tcp.get(), reinterpret_cast<sockaddr*>(&any), &size), 0);
  const std::string port = std::to_string(ntohs(any.sin_port));
  EXPECT_EQ(listener_at({{}, "localhost", port}), ::getpid());
  EXPECT_EQ(listener_at({{}, "192.0.2.1", port}), 0);  // RFC 5737: nobody's
  std::filesystem::remove_all(folder);
}

// A listening TCP socket on the loopback device, IPv4 or IPv6.
struct Listener {
  explicit Listener(int family) : socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET)
      reinterpret_cast<sockaddr_in&>(address).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else  // all addresses, so that IPv4 clients come in as well
      reinterpret_cast<sockaddr_in6&>(address).sin6_addr = in6addr_any;
    size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    listens = ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 &&
              ::listen(socket.get(), 1) == 0 &&
              ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0;
  }
  [[nodiscard]] std::string port() const {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    return std::to_string(ntohs(address.ss_family == AF_INET ? v4.sin_port : v6.sin6_port));
  }
  UniqueFd socket;
  sockaddr_storage address{};
  socklen_t size = 0;
  bool listens = false;
};

void find_both_ends(int family, const std::string& host) {
  const Listener listener(family);
  if (!listener.listens) GTEST_SKIP() << "no such address family here";
  const auto client = connect_to({{}, host, listener.port()}, testing::longest_step());
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_EQ(process_behind(client->get()), 0);  // nobody has accepted it yet
  const UniqueFd server(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_TRUE(server.valid());
  EXPECT_EQ(process_behind(client->get()), ::getpid());
  EXPECT_EQ(process_behind(server.get()), ::getpid());
}

TEST(PeerProcess, FindsTheOtherEndOfAnIpv4Connection) { find_both_ends(AF_INET, "127.0.0.1"); }
TEST(PeerProcess, FindsTheOtherEndOfAnIpv6Connection) { find_both_ends(AF_INET6, "::1"); }
TEST(PeerProcess, FindsTheOtherEndOfAnIpv4ConnectionToAnIpv6Socket) {
  find_both_ends(AF_INET6, "127.0.0.1");
}

TEST(PeerProcess, FindsTheOtherEndOfAUnixSocket) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  EXPECT_EQ(process_behind(ours.get()), ::getpid());
  EXPECT_EQ(process_behind(-1), 0);
}

}  // namespace
}  // namespace ringside::engines
