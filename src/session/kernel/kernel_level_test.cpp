#include "session/kernel/kernel_level.h"

#include <gtest/gtest.h>

#include "arch/arch_info.h"
#include "arch/riscv64.h"
#include "elf/elf_writer.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kText = 0x80000000;

elf::Image kernel_of(Arch arch) {
  elf::ElfWriter writer(arch, arch != Arch::kI386, 2);
  const std::vector<std::byte> code(4096);
  writer.add_segment({kText}, code.size(), true, false, code);
  auto file = elf::ElfFile::from_bytes(writer.write(), "kernel");
  EXPECT_TRUE(file);
  return {.id = 1, .name = "kernel", .file = *file, .load_bias = 0};
}

wire::Capture at(Arch arch, std::uint64_t pc, PrivilegeLevel level) {
  wire::Capture capture;
  capture.arch = arch;
  capture.level = level;
  capture.registers.set(arch::roles_of(arch).pc, pc);
  capture.pieces.push_back({{0x1000}, wire::PieceKind::kCurrentStack, 8, 0, 8});
  capture.bytes.resize(8);
  return capture;
}

class KernelLevelTest : public ::testing::Test {
 protected:
  PrivilegeLevel settled(std::uint64_t pc, PrivilegeLevel level) {
    last_ = at(arch_, pc, level);
    level_.settle(last_, kernel_ ? &*kernel_ : nullptr);
    return last_.level;
  }
  Arch arch_ = Arch::kRiscv64;
  std::optional<elf::Image> kernel_ = kernel_of(Arch::kRiscv64);
  KernelLevel level_{false, true};
  wire::Capture last_;
};

constexpr auto kFirmware = PrivilegeLevel::kFirmware;
constexpr auto kKernel = PrivilegeLevel::kKernel;
constexpr auto kUser = PrivilegeLevel::kUser;
constexpr auto kGuest = PrivilegeLevel::kGuest;

TEST_F(KernelLevelTest, FirmwaresModeIsTheKernelsWhereItsFileHasTheCode) {
  EXPECT_EQ(settled(kText + 8, kFirmware), kKernel);
  EXPECT_EQ(last_.bytes.size(), 8u);
  EXPECT_EQ(settled(kText + 0x2000, kFirmware), kFirmware);
  EXPECT_TRUE(last_.pieces.empty());  // one frame
  EXPECT_TRUE(last_.bytes.empty());
}

// As QEMU's virt machine does without a kernel: mtvec is 0, where there is no memory.
TEST_F(KernelLevelTest, ATrapThatInterruptsItsOwnEntryIsNoFirmware) {
  using namespace arch::riscv64;
  const auto settled_with = [&](std::uint64_t epc, std::uint64_t entry) {
    last_ = at(arch_, 0, kFirmware);
    last_.registers.set(kSp, 0x80001000);
    last_.registers.set(kPriv, 3);
    last_.registers.set(kSepc, epc);
    last_.registers.set(kStvec, entry);
    level_.settle(last_, nullptr);
    return last_.level;
  };
  EXPECT_EQ(settled_with(0, 0), kKernel);
  EXPECT_EQ(last_.registers.get(kPc), 0u);
  EXPECT_FALSE(last_.registers.has(kSp));  // nothing to walk from
  EXPECT_EQ(settled_with(4, 0), kFirmware);
  EXPECT_EQ(settled_with(0, 0x80000000), kFirmware);
}

TEST_F(KernelLevelTest, CodeInTheUpperHalfIsAModulesOfAKernelInEl2) {
  constexpr std::uint64_t kModule = 0xffff800001000000;
  arch_ = Arch::kAArch64;
  kernel_ = kernel_of(arch_);
  EXPECT_EQ(settled(kModule, kFirmware), kFirmware);  // the kernel was not seen there yet
  EXPECT_EQ(settled(kText, kFirmware), kKernel);
  EXPECT_EQ(settled(kModule, kFirmware), kKernel);
  EXPECT_EQ(last_.bytes.size(), 8u);
  EXPECT_EQ(settled(kText + 0x2000, kFirmware), kFirmware);
}

TEST_F(KernelLevelTest, BelowAKernelInMachineModeRunItsGuestsAndItsPrograms) {
  EXPECT_EQ(settled(0x90000000, kKernel), kKernel);  // not known yet
  EXPECT_EQ(settled(kText, kFirmware), kKernel);
  EXPECT_EQ(settled(0x90000000, kKernel), kGuest);
  EXPECT_TRUE(last_.bytes.empty());
  EXPECT_EQ(settled(0x90000000, kUser), kUser);
}

TEST_F(KernelLevelTest, WhatFirmwareInterruptsBelowAKernelInMachineModeIsItsGuests) {
  using namespace arch::riscv64;
  EXPECT_EQ(settled(kText, kFirmware), kKernel);
  last_ = at(arch_, 0x70001234, kFirmware);
  last_.registers.set(kPriv, 3);
  last_.registers.set(kSatp, 0);
  last_.registers.set(kSepc, 0x90000000);
  last_.registers.set(kSstatus, 1u << 11);  // MPP: supervisor
  last_.registers.set(kStvec, 0x70000000);
  level_.settle(last_, &*kernel_);
  EXPECT_EQ(last_.level, kGuest);
  EXPECT_TRUE(last_.pieces.empty());
}

// At the first instruction of firmware's entry.
TEST_F(KernelLevelTest, UserCodeThatFirmwareInterruptsIsFirmwaresWhereItIsNotWanted) {
  using namespace arch::riscv64;
  const auto level_where = [&](bool wants_user) {
    last_ = at(arch_, 0x70000000, kFirmware);
    last_.registers.set(kPriv, 3);
    last_.registers.set(kSatp, 0);
    last_.registers.set(kSepc, 0x10000);
    last_.registers.set(kSstatus, 0);  // MPP: user
    last_.registers.set(kStvec, 0x70000000);
    KernelLevel level(false, wants_user);
    level.settle(last_, &*kernel_);
    return last_.level;
  };
  EXPECT_EQ(level_where(true), kUser);
  EXPECT_EQ(level_where(false), kFirmware);
}

// As xv6 does: it starts in machine mode, and has a trampoline outside of its own code.
TEST_F(KernelLevelTest, AKernelThatGoesOnBelowMachineModeHasNoGuest) {
  EXPECT_EQ(settled(kText, kFirmware), kKernel);
  EXPECT_EQ(settled(kText + 16, kKernel), kKernel);
  EXPECT_EQ(settled(0x3ffffff000, kKernel), kKernel);
  EXPECT_EQ(settled(kText + 32, kFirmware), kKernel);  // its timer's vector
  EXPECT_EQ(settled(0x3ffffff000, kKernel), kKernel);
}

TEST_F(KernelLevelTest, OfAMachineWithoutFirmwareAllIsTheKernelsUntilThatIsKnown) {
  level_ = KernelLevel(true, true);
  EXPECT_EQ(settled(0x90000000, kFirmware), kFirmware);
  kernel_.reset();
  EXPECT_EQ(settled(0x90000000, kFirmware), kKernel);
}

// A 32-bit kernel runs before it turns on paging, too, and has no mode above its own. Code that
// runs without paging on x86_64 is not 64-bit code.
TEST_F(KernelLevelTest, X86HasNoModeAboveTheKernels) {
  arch_ = Arch::kI386;
  kernel_ = kernel_of(Arch::kI386);
  EXPECT_EQ(settled(kText, kFirmware), kKernel);
  EXPECT_EQ(settled(0x90000000, kKernel), kKernel);
  arch_ = Arch::kX86_64;
  kernel_ = kernel_of(Arch::kX86_64);
  EXPECT_EQ(settled(kText, kFirmware), kFirmware);
}

TEST_F(KernelLevelTest, UserModeInTheUpperHalfIsAGuestsKernel) {
  arch_ = Arch::kX86_64;
  EXPECT_EQ(settled(0xffffffff81000000, kUser), kGuest);
  EXPECT_EQ(settled(0xffffffff81000000, kKernel), kKernel);
  EXPECT_EQ(settled(0x7fff00000000, kUser), kUser);
  EXPECT_EQ(settled(0xffffffffff600400, kUser), kUser);  // Linux' vsyscall page
  arch_ = Arch::kI386;                                   // where the kernel's half may be any
  EXPECT_EQ(settled(0xc0100000, kUser), kUser);
}

// The mode of one moment, and the address of another.
TEST_F(KernelLevelTest, TornRegistersShowNoGuest) {
  last_ = at(Arch::kX86_64, 0xffffffff81000000, kUser);
  level_.settle(last_, &*kernel_, true);
  EXPECT_EQ(last_.level, kKernel);
  EXPECT_EQ(last_.pieces.size(), 1u);
  last_ = at(Arch::kX86_64, 0x7fff00000000, kUser);
  level_.settle(last_, &*kernel_, true);
  EXPECT_EQ(last_.level, kUser);
}

TEST_F(KernelLevelTest, IdleVcpusStayAsTheyAre) {
  last_ = at(arch_, kText, kFirmware);
  last_.disposition = wire::Disposition::kIdle;
  level_.settle(last_, &*kernel_);
  EXPECT_EQ(last_.level, kFirmware);
}

}  // namespace
}  // namespace ringside::session
