#include "engines/gdb/protocol/connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

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

}  // namespace
}  // namespace ringside::engines::gdb
