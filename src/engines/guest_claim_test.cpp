#include "engines/guest_claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>

namespace ringside::engines {
namespace {

using ::testing::HasSubstr;

// A process that has a claim until it is killed.
class Other {
 public:
  explicit Other(pid_t qemu) {
    std::array<int, 2> pipe{};
    EXPECT_EQ(::pipe(pipe.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const auto claim = GuestClaim::take(qemu);
      const char said = claim ? '+' : '-';
      (void)!::write(pipe[1], &said, 1);
      ::pause();
      ::_exit(0);
    }
    char said = '-';
    EXPECT_EQ(::read(pipe[0], &said, 1), 1);
    EXPECT_EQ(said, '+');
    ::close(pipe[0]);
    ::close(pipe[1]);
  }
  ~Other() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

constexpr std::chrono::milliseconds kShort{50};

TEST(GuestClaim, IsOneProcessAtATime) {
  const pid_t qemu = ::getpid();  // any process will do
  Other other(qemu);
  const auto taken = GuestClaim::take(qemu, kShort);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(taken.error().message, HasSubstr(fmt::format("(process {})", other.pid())));
  EXPECT_TRUE(GuestClaim::take(1, kShort)) << "another guest";
  other.kill();
  EXPECT_TRUE(GuestClaim::take(qemu));
}

TEST(GuestClaim, EndsWithItsOwnerInThisProcess) {
  const pid_t qemu = ::getpid();
  std::optional<GuestClaim> first = GuestClaim::take(qemu).value();
  EXPECT_TRUE(GuestClaim::take(qemu, kShort)) << "an engine beside another";
  first.reset();
  Other other(qemu);
  EXPECT_FALSE(GuestClaim::take(qemu, kShort));
}

TEST(GuestClaim, IsNoneOfAnUnknownGuest) {
  const GuestClaim none = GuestClaim::take(0, kShort).value();
  EXPECT_TRUE(GuestClaim::take(0, kShort));
}

}  // namespace
}  // namespace ringside::engines
