#include "engines/gdb/protocol/connection.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/socket.h"
#include "base/testing/time_limits.h"

namespace ringside::engines::gdb {
namespace {

// A stub that talks on and on and reads nothing: what it says is not kept without end.
TEST(Connection, WhatAStubSaysWhileItReadsNothingIsBounded) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  UniqueFd stub(ends[1]);
  std::thread talker([&stub] {
    std::string packets;
    for (int i = 0; i < 4000; ++i) packets += "$T05thread:p01.01;#07";
    while (::send(stub.get(), packets.data(), packets.size(), MSG_NOSIGNAL) > 0) continue;
  });
  {
    Connection connection{UniqueFd(ends[0])};
    const std::string request(32 << 20, 'x');
    const auto sent = connection.send(request, Clock::now() + testing::longest_step());
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code, ErrorCode::kProtocol) << sent.error().message;
    EXPECT_LT(connection.unread().size(), std::size_t{8} << 20);
  }
  talker.join();
}

// A connection over TCP that answers each packet with two messages, as QEMU's stub does.
class TcpStub {
 public:
  TcpStub() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_.get(), 1);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      const UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
      char byte = 0;
      while (::read(client.get(), &byte, 1) == 1) {
        if (byte != '#') continue;
        (void)::send(client.get(), "+", 1, MSG_NOSIGNAL);
        (void)::send(client.get(), "$OK#9a", 6, MSG_NOSIGNAL);
      }
    });
  }
  ~TcpStub() { thread_.join(); }
  TcpStub(const TcpStub&) = delete;
  TcpStub& operator=(const TcpStub&) = delete;
  [[nodiscard]] SocketAddress address() const { return {{}, "127.0.0.1", std::to_string(port_)}; }

 private:
  UniqueFd listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

// The kernel waits 40 ms (TCP_DELACK_MIN) for a request that could carry the acknowledgement, and
// the stub's kernel for the acknowledgement before it sends the second message. On a busy host an
// exchange takes as long for other reasons, but not every one.
TEST(Connection, AnswersOverTcpAreAcknowledgedAtOnce) {
  constexpr std::chrono::milliseconds kDelayed{40};
  const TcpStub stub;
  auto socket = connect_to(stub.address(), testing::longest_step());
  ASSERT_TRUE(socket);
  Connection connection(std::move(*socket));
  connection.set_acknowledging(false);
  std::chrono::nanoseconds shortest = kDelayed;
  for (int i = 0; i < 20; ++i) {
    const auto began = Clock::now();
    ASSERT_TRUE(connection.send("$g#67", began + testing::longest_step()));
    ASSERT_TRUE(connection.receive(began + testing::longest_step()));
    const bool is_settled = i > 2;  // a new connection acknowledges at once
    if (is_settled) shortest = std::min<std::chrono::nanoseconds>(shortest, Clock::now() - began);
  }
  EXPECT_LT(shortest, kDelayed);
}

}  // namespace
}  // namespace ringside::engines::gdb
