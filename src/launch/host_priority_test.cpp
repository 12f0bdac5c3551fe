#include "launch/host_priority.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>

namespace ringside::launch {
namespace {

// A process in a session of its own.
class OwnSession {
 public:
  OwnSession() {
    int ready[2];
    if (::pipe(ready) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      ::setsid();
      ::setpriority(PRIO_PROCESS, 0, 5);
      (void)!::write(ready[1], "", 1);
      while (true) ::pause();
    }
    char byte = 0;
    (void)!::read(ready[0], &byte, 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~OwnSession() {
    if (child_ <= 0) return;  // kill(-1) is for all
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  OwnSession(const OwnSession&) = delete;
  OwnSession& operator=(const OwnSession&) = delete;
  [[nodiscard]] pid_t process() const { return child_; }
  [[nodiscard]] int nice() const { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(child_)); }
  // Nothing where Linux has no such groups.
  [[nodiscard]] std::optional<int> group_nice() const {
    std::ifstream file("/proc/" + std::to_string(child_) + "/autogroup");
    std::string word;
    int nice = 0;
    return file >> word >> word >> nice ? std::optional(nice) : std::nullopt;
  }

 private:
  pid_t child_ = -1;
};

TEST(HostPriority, IsRaisedAndThenAsItWas) {
  const OwnSession other;
  ASSERT_GT(other.process(), 0);
  if (!HostPriority::check()) GTEST_SKIP() << "this user may raise no priority";
  const std::optional<int> group = other.group_nice();
  {
    const HostPriority priority(other.process());
    EXPECT_EQ(other.nice(), HostPriority::kNice);
    EXPECT_EQ(priority.has_group(), group.has_value());
    if (group) {
      EXPECT_EQ(other.group_nice(), HostPriority::kNice);
    }
  }
  EXPECT_EQ(other.nice(), 5);
  EXPECT_EQ(other.group_nice(), group);
}

// In a child, which gives up the right.
TEST(HostPriority, IsRefusedInWordsWithoutTheRight) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit none{0, 0};
    const bool gave_up = ::setrlimit(RLIMIT_NICE, &none) == 0 &&
                         (::geteuid() != 0 || ::setresuid(65534, 65534, 65534) == 0);
    const auto allowed = HostPriority::check();
    const bool is_refused =
        !allowed && allowed.error().message.find("CAP_SYS_NICE") != std::string::npos;
    ::_exit(gave_up && is_refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(HostPriority, AProcessThatHasEndedIsLeftAlone) {
  const HostPriority priority(999'999'999);
  EXPECT_FALSE(priority.has_group());
}

}  // namespace
}  // namespace ringside::launch
