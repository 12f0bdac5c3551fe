#include "engines/guardian.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ostream>
#include <string>

#include "base/testing/time_limits.h"
#include "engines/gdb/protocol/detach_sequence.h"
#include "engines/gdb/protocol/hex.h"
#include "engines/qmp/detach_sequence.h"

namespace ringside::engines {
namespace {

struct Pair {
  Pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    ours.reset(ends[0]);
    stub.reset(ends[1]);
  }
  // Bytes that reach the stub.
  [[nodiscard]] std::string received() const {
    pollfd poll_fd{stub.get(), POLLIN, 0};
    char bytes[256];
    if (::poll(&poll_fd, 1, static_cast<int>(testing::longest_step().count())) <= 0) return "";
    const ssize_t got = ::recv(stub.get(), bytes, sizeof(bytes), 0);
    return std::string(bytes, got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  UniqueFd ours;
  UniqueFd stub;
};

TEST(Guardian, IsInItsOwnSessionOnceStarted) {
  const Pair pair;
  for (int i = 0; i < 20; ++i) {
    const auto guardian = Guardian::start(pair.ours.get(), gdb::kDetachSequence);
    ASSERT_TRUE(guardian) << guardian.error().message;
    EXPECT_EQ(::getsid((*guardian)->pid()), (*guardian)->pid());
    EXPECT_NE(::getpgid((*guardian)->pid()), ::getpgrp());
  }
}

TEST(Guardian, ActsWhenItIsAbandoned) {
  const Pair pair;
  auto guardian = Guardian::start(pair.ours.get(), gdb::kDetachSequence);
  ASSERT_TRUE(guardian) << guardian.error().message;
  (*guardian)->set_state(GuestState::kOurs);
  (*guardian)->abandon();
  guardian->reset();  // does not wait for it
  EXPECT_EQ(pair.received(), "+\x03#00$D;1#b0");
  EXPECT_EQ(::send(pair.stub.get(), "$OK#9a", 6, MSG_NOSIGNAL), 6);
}

// A stub that accepts the connection late; what it says then, and whether the guest is to run.
struct LateStub {
  const char* name;
  std::string says;
  bool is_let_run;
};

// For the names that ctest shows.
void PrintTo(const LateStub& stub, std::ostream* out) { *out << stub.name; }

std::string console(std::string_view text) {
  return "$O" + gdb::encode_hex_text(text) + "#00+$OK#9a";
}

class GuardianOfALateStub : public ::testing::TestWithParam<LateStub> {};

TEST_P(GuardianOfALateStub, LetsTheGuestRunThatRan) {
  const Pair pair;
  auto guardian = Guardian::start(pair.ours.get(), gdb::kDetachSequence);
  ASSERT_TRUE(guardian) << guardian.error().message;
  const pid_t pid = (*guardian)->pid();
  (*guardian)->abandon();
  const std::string questions = pair.received();
  EXPECT_EQ(questions.substr(0, 8), "+$qRcmd,");
  ::usleep(300'000);  // the guardian waits
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), 0);
  EXPECT_EQ(::send(pair.stub.get(), GetParam().says.data(), GetParam().says.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(GetParam().says.size()));
  if (GetParam().is_let_run) {
    EXPECT_EQ(pair.received(), "+\x03#00$D;1#b0");
    EXPECT_EQ(::send(pair.stub.get(), "$OK#9a", 6, MSG_NOSIGNAL), 6);
  }
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  char byte = 0;
  EXPECT_EQ(::recv(pair.stub.get(), &byte, 1, MSG_DONTWAIT), -1);
}

const std::string kOld = console("7.2.22 (Debian)\r\n");
const std::string kNew = console("10.0.2 (Debian)\r\n");
const std::string kPausedStatus = console("VM status: paused\r\n");

INSTANTIATE_TEST_SUITE_P(
    Stubs, GuardianOfALateStub,
    ::testing::Values(LateStub{"OldThatRan", "$T02thread:p01.01;#00", true},
                      LateStub{"OldThatWasPaused", kOld + kPausedStatus, false},
                      LateStub{"New", kNew + kPausedStatus, true},
                      LateStub{"NewAskedBefore", kPausedStatus + kNew + kPausedStatus, true},
                      LateStub{"NewAtABreakpoint", kNew + console("VM status: paused (debug)\r\n"),
                               false},
                      LateStub{"NewThatRuns", kNew + console("VM status: running\r\n"), false},
                      LateStub{"NotQemus", "$#00+$#00", true}),
    [](const auto& late) { return std::string(late.param.name); });

TEST(Guardian, EndsWithALateConnection) {
  Pair pair;
  auto guardian = Guardian::start(pair.ours.get(), gdb::kDetachSequence);
  ASSERT_TRUE(guardian) << guardian.error().message;
  const pid_t pid = (*guardian)->pid();
  (*guardian)->abandon();
  pair.stub.reset();
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
}

TEST(Guardian, LetsAGuestRunThroughItsMonitor) {
  const Pair pair;
  auto guardian = Guardian::start(pair.ours.get(), qmp::kDetachSequence);
  ASSERT_TRUE(guardian) << guardian.error().message;
  const pid_t pid = (*guardian)->pid();
  (*guardian)->set_state(GuestState::kOurs);
  (*guardian)->abandon();
  EXPECT_EQ(pair.received(), "\xff\n{\"execute\":\"cont\",\"id\":\"ringside-guardian\"}\n");
  // Something else, then its answer, in two pieces.
  EXPECT_EQ(::send(pair.stub.get(), "{\"id\": \"\"ring", 13, MSG_NOSIGNAL), 13);
  ::usleep(20'000);
  EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), 0);
  const std::string answer = "side-guardian\", \"return\": {}}\r\n";
  EXPECT_EQ(::send(pair.stub.get(), answer.data(), answer.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(answer.size()));
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
}

TEST(Guardian, LeavesAMonitorsGuestPausedThatItsUserHasPaused) {
  Pair pair;
  for (const GuestState state : {GuestState::kUnknown, GuestState::kRunning, GuestState::kPaused}) {
    auto guardian = Guardian::start(pair.ours.get(), qmp::kDetachSequence);
    ASSERT_TRUE(guardian) << guardian.error().message;
    (*guardian)->set_state(state);
    const pid_t pid = (*guardian)->pid();
    (*guardian)->abandon();
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  }
  pair.ours.reset();
  EXPECT_EQ(pair.received(), "");
}

TEST(Guardian, SaysNothingAfterAGoodbye) {
  Pair pair;
  auto guardian = Guardian::start(pair.ours.get(), gdb::kDetachSequence);
  ASSERT_TRUE(guardian) << guardian.error().message;
  (*guardian)->set_state(GuestState::kOurs);
  guardian->reset();
  pair.ours.reset();
  EXPECT_EQ(pair.received(), "");
}

}  // namespace
}  // namespace ringside::engines
