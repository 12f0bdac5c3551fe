#include "session/kernel_stack_users.h"

#include <gtest/gtest.h>

namespace ringside::session {
namespace {

constexpr GuestVirt kStack{0xffff888000003ff0};
constexpr GuestVirt kOther{0xffff888000007ff0};

TEST(KernelStackUsers, AStackIsTheMostFrequentOnes) {
  KernelStackUsers users;
  EXPECT_TRUE(users.belong(kStack, 1, false));
  EXPECT_TRUE(users.belong(kStack, 1, false));
  EXPECT_FALSE(users.belong(kStack, 2, false));
  EXPECT_TRUE(users.belong(kOther, 2, false));
  EXPECT_TRUE(users.belong(kStack, 1, false));
}

// Switching may last longer than all that a thread does in the kernel.
TEST(KernelStackUsers, TheEntryItselfIsBetterEvidence) {
  KernelStackUsers users;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(users.belong(kStack, 2, false));
  EXPECT_TRUE(users.belong(kStack, 1, true));
  EXPECT_TRUE(users.belong(kStack, 1, false));
  EXPECT_FALSE(users.belong(kStack, 2, false));
}

TEST(KernelStackUsers, AStackMayBeOfManyThreads) {
  KernelStackUsers users;
  for (std::uint64_t space = 1; space < 6; ++space) EXPECT_TRUE(users.belong(kStack, space, true));
  for (std::uint64_t space = 1; space < 6; ++space) EXPECT_TRUE(users.belong(kStack, space, false));
}

TEST(KernelStackUsers, ARareEntryIsOneThatSwitchesThreadsItself) {
  KernelStackUsers users;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(users.belong(kStack, 1, true));
  EXPECT_FALSE(users.belong(kStack, 2, true));
  EXPECT_FALSE(users.belong(kStack, 2, false));
}

// One of which has nearly all samples.
TEST(KernelStackUsers, AStackMayBeOfThreadsThatRunSeldom) {
  KernelStackUsers users;
  for (int i = 0; i < 2000; ++i) {
    EXPECT_TRUE(users.belong(kStack, 1, i % 20 == 0));
    if (i % 20 == 0) (void)users.belong(kStack, 2, i % 100 == 0);
  }
  EXPECT_TRUE(users.belong(kStack, 2, false));
}

TEST(KernelStackUsers, AStackMayBeGivenToAnotherThread) {
  KernelStackUsers users;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(users.belong(kStack, 1, i % 20 == 0));
  for (int i = 0; i < 100; ++i) (void)users.belong(kStack, 2, i % 20 == 0);
  EXPECT_TRUE(users.belong(kStack, 2, false));
}

TEST(KernelStackUsers, ForgetsRatherThanGrows) {
  KernelStackUsers users;
  for (int i = 0; i < 20; ++i) (void)users.belong(kOther, 1, true);
  EXPECT_FALSE(users.belong(kOther, 2, false));
  for (std::uint64_t i = 0; i < 20'000; ++i)
    (void)users.belong({0xffff888000000000 + i * 4096}, 1, false);
  EXPECT_TRUE(users.belong(kOther, 2, false));
}

}  // namespace
}  // namespace ringside::session
