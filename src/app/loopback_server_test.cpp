#include "app/loopback_server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/socket.h"
#include "base/testing/time_limits.h"
#include "recording/recording_test_util.h"

namespace ringside::app {
namespace {

using ringside::testing::longest_step;
using ringside::testing::scaled;
using ringside::testing::wait_until;

constexpr std::size_t kLarge = 32 << 20;  // more than the sockets of both sides hold
constexpr std::chrono::hours kNever(1);

// A client with its own speed.
class Client {
 public:
  explicit Client(const std::string& host) {
    auto connected = connect_to(*SocketAddress::parse(host), longest_step());
    if (connected) fd_ = std::move(*connected);
  }
  // False: the server has closed the connection.
  bool send(const std::string& text) {
    return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  // All that comes until the server closes the connection; nothing for too long fails the test.
  std::string read() {
    std::string text, piece(1 << 16, '\0');
    for (;;) {
      pollfd ready{fd_.get(), POLLIN, 0};
      if (::poll(&ready, 1, static_cast<int>(longest_step().count())) != 1) {
        ADD_FAILURE() << "the server neither answers nor closes the connection";
        return text;
      }
      const ssize_t got = ::recv(fd_.get(), piece.data(), piece.size(), 0);
      if (got <= 0) return text;
      text.append(piece, 0, static_cast<std::size_t>(got));
    }
  }

 private:
  UniqueFd fd_;
};

class LoopbackServerTest : public ::testing::Test {
 protected:
  void start(ServerLimits limits) {
    std::ofstream(dir_ / "small") << "content";
    std::ofstream(dir_ / "large") << std::string(kLarge, 'x');
    std::map<std::string, ServedFile> files;
    for (const char* name : {"small", "large"})
      files[name] = {*MappedFile::open(dir_ / name), "text/plain", "", "sandbox"};
    auto made = LoopbackServer::listen(0, "https://one.example", limits);
    ASSERT_TRUE(made);
    server_.emplace(std::move(*made));
    const std::size_t slash = server_->url().find('/', 7);
    host_ = server_->url().substr(7, slash - 7);
    folder_ = server_->url().substr(slash);
    thread_ = std::thread([this, files] {
      EXPECT_TRUE(server_->serve(files, [this] { return is_over_.load(); }));
      has_ended_ = true;
    });
  }
  void TearDown() override {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::string request(const std::string& name) const {
    return "GET " + folder_ + name + " HTTP/1.1\r\nHost: " + host_ + "\r\n\r\n";
  }
  std::string get(const std::string& name) {
    Client client(host_);
    client.send(request(name));
    return client.read();
  }

  recording::testing::TempDir dir_;
  std::optional<LoopbackServer> server_;
  std::string host_, folder_;
  std::atomic<bool> is_over_ = false, has_ended_ = false;
  std::thread thread_;
};

TEST_F(LoopbackServerTest, AFileHasItsPolicyAndOthersAreNotThere) {
  start({});
  const std::string there = get("small");
  EXPECT_TRUE(there.starts_with("HTTP/1.1 200")) << there;
  EXPECT_NE(there.find("\r\nContent-Security-Policy: sandbox\r\n"), std::string::npos) << there;
  EXPECT_TRUE(there.ends_with("\r\n\r\ncontent")) << there;
  EXPECT_TRUE(get("other").starts_with("HTTP/1.1 404"));
}

TEST_F(LoopbackServerTest, ARequestThatIsNoneIsAnswered) {
  start({});
  Client client(host_);
  client.send("hello\r\n\r\n");
  EXPECT_TRUE(client.read().starts_with("HTTP/1.1 400"));
}

TEST_F(LoopbackServerTest, ARequestByteByByteEndsAtItsDeadline) {
  start({.request = scaled(std::chrono::milliseconds(200))});
  Client slow(host_);
  EXPECT_TRUE(wait_until([&] {
    ::usleep(20'000);
    return !slow.send("x");
  })) << "the server waits for the end of the request";
}

TEST_F(LoopbackServerTest, AnAnswerThatNobodyReadsEndsAtItsDeadline) {
  start({.answer = std::chrono::milliseconds(20)});
  Client slow(host_);
  slow.send(request("large"));
  // Twice as long as the answer may take, which is 33 times 20 ms.
  std::this_thread::sleep_for(scaled(std::chrono::milliseconds(1400)));
  EXPECT_LT(slow.read().size(), kLarge);
}

TEST_F(LoopbackServerTest, TheOwnerGetsInWhereOthersHoldAllConnections) {
  start({.request = kNever, .connections = 4});
  std::vector<std::unique_ptr<Client>> strangers;
  for (int i = 0; i < 8; ++i) {
    strangers.push_back(std::make_unique<Client>(host_));
    strangers.back()->send("GET /");
  }
  EXPECT_TRUE(get("small").ends_with("content"));
  EXPECT_EQ(strangers.front()->read(), "");  // the oldest was dropped
}

TEST_F(LoopbackServerTest, StrangersDoNotDropTheOwner) {
  start({.request = kNever, .answer = kNever, .connections = 4});
  Client owner(host_);
  owner.send(request("large"));
  EXPECT_TRUE(get("small").ends_with("content"));  // so the owner's request is read, too
  std::vector<std::unique_ptr<Client>> strangers;
  for (int i = 0; i < 8; ++i) strangers.push_back(std::make_unique<Client>(host_));
  EXPECT_EQ(strangers.front()->read(), "");
  EXPECT_TRUE(owner.read().ends_with(std::string(kLarge, 'x')));
}

TEST_F(LoopbackServerTest, EndsWhateverItsClientsDo) {
  start({.request = kNever, .answer = kNever});
  Client asking(host_), reading(host_);
  asking.send("GET /");
  reading.send(request("large"));
  EXPECT_TRUE(get("small").ends_with("content"));
  is_over_ = true;
  EXPECT_TRUE(wait_until([this] { return has_ended_.load(); }));
}

}  // namespace
}  // namespace ringside::app
