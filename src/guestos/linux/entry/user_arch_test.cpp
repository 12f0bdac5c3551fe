#include "guestos/linux/entry/user_arch.h"

#include <gtest/gtest.h>

namespace ringside::guestos {
namespace {

arch::Registers with(std::uint8_t reg, std::uint64_t value) {
  arch::Registers registers;
  registers.set(reg, value);
  return registers;
}

TEST(UserArch, TheCodeSegmentShows32BitCode) {
  const auto arch_of = [](std::uint64_t cs) {
    return user_arch(Arch::kX86_64, with(arch::x86_64::kCs, cs));
  };
  EXPECT_EQ(arch_of(0x33), Arch::kX86_64);
  EXPECT_EQ(arch_of(0xe033), Arch::kX86_64);  // Xen
  EXPECT_EQ(arch_of(0x23), Arch::kI386);
  EXPECT_EQ(arch_of(0xe023), Arch::kI386);
  EXPECT_EQ(arch_of(0x0f), Arch::kI386);                // of a local descriptor table
  EXPECT_EQ(arch_of(0xffff'0000'0023), Arch::kI386);    // pt_regs.cs has 64 bits,
  EXPECT_EQ(arch_of(0xffff'0000'0033), Arch::kX86_64);  // of which 16 are the selector
  EXPECT_EQ(user_arch(Arch::kX86_64, {}), Arch::kX86_64);
}

TEST(UserArch, A32BitKernelHasNoOther) {
  EXPECT_EQ(user_arch(Arch::kI386, with(arch::i386::kCs, 0x73)), Arch::kI386);
}

TEST(UserArch, AArch32IsNotKnown) {
  const auto arch_of = [](std::uint64_t pstate) {
    return user_arch(Arch::kAArch64, with(arch::aarch64::kCpsr, pstate));
  };
  EXPECT_EQ(arch_of(0x6000'0000), Arch::kAArch64);
  EXPECT_EQ(arch_of(0x6000'0010), Arch::kUnknown);
  EXPECT_EQ(arch_of(0x6000'0030), Arch::kUnknown);  // Thumb
  EXPECT_EQ(user_arch(Arch::kRiscv64, {}), Arch::kRiscv64);
}

}  // namespace
}  // namespace ringside::guestos
