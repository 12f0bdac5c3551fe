#include "wire/execution_mode.h"

#include <gtest/gtest.h>

namespace ringside::wire {
namespace {

// Both psABIs number the registers, each in another order.
TEST(LowHalves, HaveI386sNumbers) {
  Registers wide;
  for (std::uint8_t reg = x86_64::kRax; reg <= x86_64::kRip; ++reg)
    wide.set(reg, 0xdead'beef'0000'0000 + reg);
  wide.set(x86_64::kCs, 0x23);
  const Registers low = low_halves(wide);
  EXPECT_EQ(low.get(i386::kEax), x86_64::kRax);
  EXPECT_EQ(low.get(i386::kEcx), x86_64::kRcx);
  EXPECT_EQ(low.get(i386::kEdx), x86_64::kRdx);
  EXPECT_EQ(low.get(i386::kEbx), x86_64::kRbx);
  EXPECT_EQ(low.get(i386::kEsp), x86_64::kRsp);
  EXPECT_EQ(low.get(i386::kEbp), x86_64::kRbp);
  EXPECT_EQ(low.get(i386::kEsi), x86_64::kRsi);
  EXPECT_EQ(low.get(i386::kEdi), x86_64::kRdi);
  EXPECT_EQ(low.get(i386::kEip), x86_64::kRip);
  EXPECT_EQ(low.get(i386::kCs), 0x23u);
  EXPECT_FALSE(low.has(i386::kSs));
  EXPECT_FALSE(low.has(i386::kEip + 1));  // 32-bit code has no r8
}

TEST(RunningLevel, IsTheExceptionLevelOrTheMode) {
  Registers registers;
  EXPECT_FALSE(running_level(Arch::kAArch64, registers));
  registers.set(aarch64::kCpsr, 0x600003c9);
  EXPECT_EQ(running_level(Arch::kAArch64, registers), 2);
  registers.set(aarch64::kCpsr, 0x10);
  EXPECT_FALSE(running_level(Arch::kAArch64, registers));
  registers = {};
  registers.set(riscv64::kPriv, 3);
  EXPECT_EQ(running_level(Arch::kRiscv64, registers), 3);
  EXPECT_FALSE(running_level(Arch::kX86_64, registers));
}

}  // namespace
}  // namespace ringside::wire
