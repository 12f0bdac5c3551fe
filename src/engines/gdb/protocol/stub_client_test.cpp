#include "engines/gdb/protocol/stub_client.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/testing/time_limits.h"

namespace ringside::engines::gdb {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// A server that accepts when it is asked to.
class Server {
 public:
  virtual ~Server() = default;
  [[nodiscard]] UniqueFd connect() const {
    auto client = connect_to(address_, ringside::testing::longest_step());
    EXPECT_TRUE(client) << client.error().message;
    return client ? std::move(*client) : UniqueFd();
  }
  [[nodiscard]] UniqueFd accept() const {
    return UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  [[nodiscard]] const SocketAddress& address() const { return address_; }

 protected:
  void listen(int family, const sockaddr* name, socklen_t size) {
    listener_.reset(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::bind(listener_.get(), name, size) != 0 || ::listen(listener_.get(), 1) != 0) std::abort();
  }
  UniqueFd listener_;
  SocketAddress address_;
};

class UnixServer final : public Server {
 public:
  UnixServer() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    address_.path = folder_ + "/s";
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    address_.path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    listen(AF_UNIX, reinterpret_cast<sockaddr*>(&name), sizeof(name));
  }
  ~UnixServer() override { std::filesystem::remove_all(folder_); }

 private:
  std::string folder_ = std::filesystem::temp_directory_path() / "ringside-client-XXXXXX";
};

class TcpServer final : public Server {
 public:
  TcpServer() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(name);
    listen(AF_INET, reinterpret_cast<sockaddr*>(&name), size);
    if (::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0)
      std::abort();
    address_ = {{}, "localhost", std::to_string(ntohs(name.sin_port))};
  }
};

template <class T>
class StubClient : public ::testing::Test {};
using Servers = ::testing::Types<UnixServer, TcpServer>;
TYPED_TEST_SUITE(StubClient, Servers);

TYPED_TEST(StubClient, IsThereFromAcceptToClose) {
  const TypeParam server;
  EXPECT_FALSE(has_client(server.address()));
  UniqueFd client = server.connect();
  EXPECT_FALSE(has_client(server.address()));  // it waits
  UniqueFd served = server.accept();
  EXPECT_TRUE(has_client(server.address()));
  client.reset();
  served.reset();
  EXPECT_FALSE(has_client(server.address()));
}

TYPED_TEST(StubClient, IsWaitedFor) {
  const TypeParam server;
  EXPECT_TRUE(wait_until_free(server.address(), {milliseconds(0)}));
  UniqueFd client = server.connect();
  UniqueFd served = server.accept();
  const auto taken = wait_until_free(server.address(), {milliseconds(50)});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(taken.error().message, HasSubstr("serves another client"));
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(50));
    client.reset();
    served.reset();
  });
  EXPECT_TRUE(wait_until_free(server.address(), {ringside::testing::longest_step()}));
  later.join();
}

}  // namespace
}  // namespace ringside::engines::gdb
