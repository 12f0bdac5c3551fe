#include "unwind/platform.h"

#include <gtest/gtest.h>

namespace ringside::unwind {
namespace {

TEST(Platform, OfAHighLevelAllElseIsUserCode) {
  const Platform& usual = *find_platform(Arch::kRiscv64, 1);
  EXPECT_EQ(&usual, &kRiscv64Platform);
  EXPECT_TRUE(usual.is_user(0x20));    // SPP is 0
  EXPECT_FALSE(usual.is_user(0x120));  // SPP is 1
  const Platform& machine = *find_platform(Arch::kRiscv64, 3);
  EXPECT_FALSE(machine.is_user(0xa00001880));  // MPP is 3: machine mode
  EXPECT_TRUE(machine.is_user(0xa00000880));   // 1: supervisor mode
  EXPECT_TRUE(machine.is_user(0xa00000080));   // 0: user mode

  const Platform& el1 = *find_platform(Arch::kAArch64, std::nullopt);
  EXPECT_TRUE(el1.is_user(0x60000000));   // EL0t
  EXPECT_TRUE(el1.is_user(0x60000010));   // AArch32's user mode
  EXPECT_FALSE(el1.is_user(0x600003c5));  // EL1h
  const Platform& el2 = *find_platform(Arch::kAArch64, 2);
  EXPECT_FALSE(el2.is_user(0x600003c9));  // EL2h
  EXPECT_TRUE(el2.is_user(0x600003c5));
  EXPECT_TRUE(el2.is_user(0x60000000));
  EXPECT_TRUE(el2.is_user(0x60000010));
  const Platform& el3 = *find_platform(Arch::kAArch64, 3);
  EXPECT_FALSE(el3.is_user(0x600003cd));
  EXPECT_TRUE(el3.is_user(0x600003c9));
}

}  // namespace
}  // namespace ringside::unwind
