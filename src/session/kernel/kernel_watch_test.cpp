#include "session/kernel/kernel_watch.h"

#include <gtest/gtest.h>

#include "session/testing/loaded_kernel.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// The boot loader is found at first, and its entries a second later.
class UserInterruptsOfALoader : public testing::LoadedKernel, public ::testing::Test {
 protected:
  void SetUp() override {
    const auto found = poll({kLoader}, 0);
    ASSERT_TRUE(found && found->kernel);
    EXPECT_EQ(found->kernel->image.file, loader_);
    EXPECT_EQ(found->user_interrupts, nullptr);
    engine_.no_registers.reset();
  }
  Result<KernelWatch::PollResult> poll(const std::vector<std::uint64_t>& pcs,
                                       std::uint64_t now_ns) {
    engines::Tick tick;
    for (const std::uint64_t pc : pcs) put_kernel_pc(tick.captures.emplace_back(), pc);
    return watch_.poll(engine_, tick, now_ns);
  }

  KernelWatch watch_{request(), Arch::kAArch64};
};

TEST_F(UserInterruptsOfALoader, AreFoundLater) {
  const auto found = poll({kLoader}, kSecond);
  ASSERT_TRUE(found);
  EXPECT_NE(found->user_interrupts, nullptr);
}

TEST_F(UserInterruptsOfALoader, AreNotThoseOfTheKernelThatIsFoundAtTheSameTick) {
  const auto found = poll({kLoader, kKernel}, kSecond);
  ASSERT_TRUE(found && found->kernel);
  EXPECT_EQ(found->kernel->image.file, kernel_);
  EXPECT_EQ(found->user_interrupts, nullptr);
}

TEST_F(UserInterruptsOfALoader, AreReportedAfterAFailure) {
  failure_ = Error{ErrorCode::kTimeout, "the guest does not answer"};
  EXPECT_FALSE(poll({kLoader, kElsewhere}, kSecond));
  failure_.reset();
  const auto found = poll({kLoader}, kSecond + 1);
  ASSERT_TRUE(found);
  EXPECT_NE(found->user_interrupts, nullptr);
}

// A kernel may never have any.
TEST_F(UserInterruptsOfALoader, AreLookedForMoreAndMoreSeldom) {
  engine_.no_registers = Error{ErrorCode::kTimeout, "all vCPUs are idle"};
  const std::size_t before = engine_.register_reads;
  for (std::uint64_t second = 1; second <= 32; ++second)
    ASSERT_TRUE(poll({kLoader}, second * kSecond));
  EXPECT_EQ(engine_.register_reads - before, 6u);  // at 1, 3, 7, 15, 23 and 31 s
}

}  // namespace
}  // namespace ringside::session
