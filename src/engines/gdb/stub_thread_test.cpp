#include "engines/gdb/stub_thread.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/scheduling.h"

namespace ringside::engines::gdb {
namespace {

// The exit code of a process that runs `body`.
template <class Body>
int in_a_process(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = -1;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StubThread, OnlyAQemuIsOne) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  EXPECT_FALSE(is_qemu(::getpid()));
  EXPECT_EQ(stub_thread_behind(ours.get()), 0);
  EXPECT_FALSE(is_qemu(0));
}

// As a user who has SCHED_RR through RLIMIT_RTPRIO only.
TEST(StubThread, SchedulingIsRestoredWithoutCapabilities) {
  constexpr int kNotAllowed = 77;
  const int outcome = in_a_process([] {
    const rlimit one{1, 1};
    if (::setrlimit(RLIMIT_RTPRIO, &one) != 0) return kNotAllowed;
    if (::getuid() == 0 && ::setuid(65534) != 0) return kNotAllowed;
    for (int round = 0; round < 2; ++round) {
      const auto before = schedule_first(0);
      if (!before) return round == 0 ? kNotAllowed : 1;
      if (::sched_getscheduler(0) != (SCHED_RR | SCHED_RESET_ON_FORK)) return 2;
      restore_scheduling(*before);
      if ((::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) != SCHED_OTHER) return 3;
    }
    return 0;
  });
  if (outcome == kNotAllowed) GTEST_SKIP() << "RLIMIT_RTPRIO cannot be set here";
  EXPECT_EQ(outcome, 0);
}

}  // namespace
}  // namespace ringside::engines::gdb
