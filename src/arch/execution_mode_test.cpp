#include "arch/execution_mode.h"

#include <gtest/gtest.h>

#include "arch/x86.h"

namespace ringside::arch {
namespace {

// Both psABIs number the registers, each in another order.
TEST(LowHalves, HaveI386sNumbers) {
  arch::Registers wide;
  for (std::uint8_t reg = arch::x86_64::kRax; reg <= arch::x86_64::kRip; ++reg)
    wide.set(reg, 0xdead'beef'0000'0000 + reg);
  wide.set(arch::x86_64::kCs, 0x23);
  const arch::Registers low = arch::low_halves(wide);
  EXPECT_EQ(low.get(arch::i386::kEax), arch::x86_64::kRax);
  EXPECT_EQ(low.get(arch::i386::kEcx), arch::x86_64::kRcx);
  EXPECT_EQ(low.get(arch::i386::kEdx), arch::x86_64::kRdx);
  EXPECT_EQ(low.get(arch::i386::kEbx), arch::x86_64::kRbx);
  EXPECT_EQ(low.get(arch::i386::kEsp), arch::x86_64::kRsp);
  EXPECT_EQ(low.get(arch::i386::kEbp), arch::x86_64::kRbp);
  EXPECT_EQ(low.get(arch::i386::kEsi), arch::x86_64::kRsi);
  EXPECT_EQ(low.get(arch::i386::kEdi), arch::x86_64::kRdi);
  EXPECT_EQ(low.get(arch::i386::kEip), arch::x86_64::kRip);
  EXPECT_EQ(low.get(arch::i386::kCs), 0x23u);
  EXPECT_FALSE(low.has(arch::i386::kSs));
  EXPECT_FALSE(low.has(arch::i386::kEip + 1));  // 32-bit code has no r8
}

TEST(RunningLevel, IsTheExceptionLevelOrTheMode) {
  arch::Registers registers;
  EXPECT_FALSE(arch::running_level(Arch::kAArch64, registers));
  registers.set(arch::aarch64::kCpsr, 0x600003c9);
  EXPECT_EQ(arch::running_level(Arch::kAArch64, registers), 2);
  registers.set(arch::aarch64::kCpsr, 0x10);
  EXPECT_FALSE(arch::running_level(Arch::kAArch64, registers));
  registers = {};
  registers.set(arch::riscv64::kPriv, 3);
  EXPECT_EQ(arch::running_level(Arch::kRiscv64, registers), 3);
  EXPECT_FALSE(arch::running_level(Arch::kX86_64, registers));
}

}  // namespace
}  // namespace ringside::arch
