#include <gtest/gtest.h>

#include "arch/arch_info.h"

namespace ringside::arch {
namespace {

TEST(SavedMode, OfAHighLevelAllElseIsUserCode) {
  const SavedMode& usual = info_of(Arch::kRiscv64, 1).saved_mode;
  EXPECT_TRUE(usual.is_user(0x20));    // SPP is 0
  EXPECT_FALSE(usual.is_user(0x120));  // SPP is 1
  const SavedMode& machine = info_of(Arch::kRiscv64, 3).saved_mode;
  EXPECT_FALSE(machine.is_user(0xa00001880));  // MPP is 3: machine mode
  EXPECT_TRUE(machine.is_user(0xa00000880));   // 1: supervisor mode
  EXPECT_TRUE(machine.is_user(0xa00000080));   // 0: user mode

  const SavedMode& el1 = info_of(Arch::kAArch64, std::nullopt).saved_mode;
  EXPECT_TRUE(el1.is_user(0x60000000));   // EL0t
  EXPECT_TRUE(el1.is_user(0x60000010));   // AArch32's user mode
  EXPECT_FALSE(el1.is_user(0x600003c5));  // EL1h
  const SavedMode& el2 = info_of(Arch::kAArch64, 2).saved_mode;
  EXPECT_FALSE(el2.is_user(0x600003c9));  // EL2h
  EXPECT_TRUE(el2.is_user(0x600003c5));
  EXPECT_TRUE(el2.is_user(0x60000000));
  EXPECT_TRUE(el2.is_user(0x60000010));
  const SavedMode& el3 = info_of(Arch::kAArch64, 3).saved_mode;
  EXPECT_FALSE(el3.is_user(0x600003cd));
  EXPECT_TRUE(el3.is_user(0x600003c9));
}

}  // namespace
}  // namespace ringside::arch
