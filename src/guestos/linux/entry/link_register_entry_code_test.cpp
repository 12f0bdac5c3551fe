#include <gtest/gtest.h>

#include <array>

#include "guestos/linux/aarch64/entry_code.h"
#include "guestos/linux/riscv64/entry_code.h"
#include "guestos/testing/entry_machine.h"

// Contents of registers and memory between the instructions of Linux's entry code for aarch64 and
// riscv64. The instructions are as llvm-objdump shows them.

namespace ringside::guestos {
namespace {

using testing::EntryMachine;

std::vector<std::byte> code_of(
    const std::vector<std::pair<std::size_t, std::vector<std::uint32_t>>>& parts,
    std::size_t size) {
  std::vector<std::byte> code(size);
  for (const auto& [at, words] : parts) std::memcpy(&code[at], words.data(), 4 * words.size());
  return code;
}

namespace arm {

using namespace arch::aarch64;

constexpr std::uint64_t kKernel = 0xffff800008010000;
constexpr std::uint64_t kTrampoline = 0xfffffbfffdbf6000;
constexpr std::uint64_t kFrame = 0xffff80000b003eb0;  // struct pt_regs, 336 bytes
constexpr std::uint64_t kTask = 0xffff000004a80000;
constexpr std::uint64_t kUserSp = 0xffffee123450;
constexpr std::uint64_t kUserPc = 0xaaaad0001234;

// Code of Debian's 6.1 kernel: el0t_64_sync (without what lies between, and half of its stores),
// the end of ret_to_user and the trampoline's exit.
const std::vector<std::uint32_t> kEntry = {
    0xa90007e0,  // 0x00 stp x0, x1, [sp]
    0xa90a57f4,  // 0x04 stp x20, x21, [sp, #160]
    0xa90b5ff6,  // 0x08 stp x22, x23, [sp, #176]
    0xa90e77fc,  // 0x0c stp x28, x29, [sp, #224]
    0xaa1f03fd,  // 0x10 mov x29, xzr
    0xd5384115,  // 0x14 mrs x21, SP_EL0
    0xb0000e5c,  // 0x18 adrp x28, .+0x1c9000
    0x910b239c,  // 0x1c add x28, x28, #712
    0xd538d094,  // 0x20 mrs x20, TPIDR_EL1
    0xf8746b9c,  // 0x24 ldr x28, [x28, x20]
    0xd518411c,  // 0x28 msr SP_EL0, x28
    0xd5384036,  // 0x2c mrs x22, ELR_EL1
    0xd5384017,  // 0x30 mrs x23, SPSR_EL1
    0xa90f57fe,  // 0x34 stp x30, x21, [sp, #240]
    0xa9105ff6,  // 0x38 stp x22, x23, [sp, #256]
    0x942e7539,  // 0x3c bl el0t_64_sync_handler
    0x140002da,  // 0x40 b ret_to_user
};
const std::vector<std::uint32_t> kExitPath = {
    0x92c0801e,  // 0x00 mov x30, #-0x40000000001
    0xf2bfb7fe,  // 0x04 movk x30, #0xfdbf, lsl #16
    0xf28c001e,  // 0x08 movk x30, #0x6000
    0xb000001d,  // 0x0c adrp x29, .+0x1000
    0x910003bd,  // 0x10 add x29, x29, #0
    0x8b1d03de,  // 0x14 add x30, x30, x29
    0x9000001d,  // 0x18 adrp x29, .
    0x910003bd,  // 0x1c add x29, x29, #0
    0xcb1d03de,  // 0x20 sub x30, x30, x29
    0xd61f03c0,  // 0x24 br x30
};
const std::vector<std::uint32_t> kExit = {
    0xd538203d,  // 0x00 mrs x29, TTBR1_EL1
    0xd518203d,  // 0x04 msr TTBR1_EL1, x29
    0xd538601d,  // 0x08 mrs x29, FAR_EL1
    0x910543ff,  // 0x0c add sp, sp, #336
};

class Aarch64EntryCodeTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kVectors = 0x1800, kSync = 0x2000, kRet = 0x3000;

  // The trampoline's copy in the kernel is a page before the page with its exit: where ret_to_user
  // is, and the next.
  Aarch64EntryCodeTest()
      : bytes_(code_of({{kSync, kEntry}, {kRet, kExitPath}, {kRet + 0x1000, kExit}}, 0x5000)),
        kernel_(testing::kernel_of(Arch::kAArch64, kKernel, bytes_,
                                   {{"vectors", kVectors},
                                    {"el0t_64_sync", kSync},
                                    {"el0t_64_irq", kSync + 0x44},
                                    {"ret_to_user", kRet},
                                    {"behind", kRet + 0x28}})) {
    pt_regs_.size = 336;
    for (std::uint8_t reg = kX0; reg <= kPc; ++reg)
      pt_regs_.frame.save(reg, static_cast<std::int16_t>(8 * reg));
    pt_regs_.frame.save(kCpsr, 264);
    code_ = aarch64_entry_code(kernel_, pt_regs_);
    machine_.arch = Arch::kAArch64;
    for (std::uint8_t reg = kX0; reg <= kLr; ++reg) machine_.registers.set(reg, 0x100u + reg);
    machine_.registers.set(kSp, kFrame);
    machine_.registers.set(kSpEl0, kUserSp);
    machine_.registers.set(kElrEl1, kUserPc);
    machine_.registers.set(kSpsrEl1, 0);
    machine_.registers.set(kTpidrroEl0, 0x30);
    machine_.registers.set(kFarEl1, 0x29);
  }

  std::optional<arch::Registers> at(std::uint64_t pc, bool has_saved = false) {
    machine_.registers.set(kPc, pc);
    const wire::Capture capture = has_saved ? machine_.capture(kFrame, 336) : machine_.capture();
    EntryCode::Copied copied;
    if (has_saved) copied.saved = &capture.pieces.front();
    return code_->user_registers(capture, copied);
  }
  void expect_user_code(const std::optional<arch::Registers>& registers, std::uint64_t fp,
                        std::uint64_t link) {
    ASSERT_TRUE(registers);
    EXPECT_EQ(registers->get(kPc), kUserPc);
    EXPECT_EQ(registers->get(kSp), kUserSp);
    EXPECT_EQ(registers->get(kFp), fp);
    EXPECT_EQ(registers->get(kLr), link);
  }

  std::vector<std::byte> bytes_;
  elf::Image kernel_;
  UserRegisters pt_regs_;
  std::unique_ptr<EntryCode> code_;
  EntryMachine machine_;
};

TEST_F(Aarch64EntryCodeTest, VectorsOfUserCode) {
  const std::uint64_t sync = kKernel + kVectors + 0x400;
  expect_user_code(at(sync), 0x100 + kFp, 0x100 + kLr);
  expect_user_code(at(sync + 4), 0x100 + kFp, 0x30);  // mrs x30, TPIDRRO_EL0
  expect_user_code(at(sync + 0x9c), 0x100 + kFp, 0x100 + kLr);
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  EXPECT_FALSE(at(kKernel + kVectors + 0x280));  // of the kernel
}

TEST_F(Aarch64EntryCodeTest, WhileRegistersAreSaved) {
  const std::uint64_t sync = kKernel + kSync;
  expect_user_code(at(sync), 0x100 + kFp, 0x100 + kLr);
  // x0 to x29 are stored, and cleared; x21 keeps the stack pointer.
  machine_.store(kFrame + 8 * kX19, {0x19, 0x20, 0x21});
  machine_.store(kFrame + 8 * kX28, {0x28, 0x29});
  machine_.registers.set(kFp, 0);
  machine_.registers.set(21, kUserSp);
  expect_user_code(at(sync + 0x14), 0x29, 0x100 + kLr);
  machine_.registers.set(kSpEl0, kTask);
  expect_user_code(at(sync + 0x2c), 0x29, 0x100 + kLr);
  EXPECT_EQ(at(sync + 0x2c)->get(20), 0x20u);
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  machine_.store(kFrame + 8 * kLr, {0x3030, kUserSp + 16});
  const auto registers = at(sync + 0x38);
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(kSp), kUserSp + 16);
  EXPECT_EQ(registers->get(kLr), 0x3030u);
  EXPECT_EQ(registers->get(kPc), kUserPc);
  EXPECT_FALSE(machine_.user_stack(*code_));
  // All are: the task's memory has them, which was not copied.
  EXPECT_FALSE(at(sync + 0x40));
}

// In a kernel whose entries have other names, values that an earlier call has left are not taken.
TEST_F(Aarch64EntryCodeTest, WithoutItsEntries) {
  const elf::Image other = testing::kernel_of(Arch::kAArch64, kKernel, bytes_, {{"start", 0}});
  code_ = aarch64_entry_code(other, pt_regs_);
  machine_.registers.set(kSpEl0, kTask);
  machine_.store(kFrame + 8 * kFp, {0x29, 0x3030, kUserSp, kUserPc, 0});
  EXPECT_FALSE(at(kKernel + kSync + 0x2c, true));
  machine_.registers.set(kSp, kFrame - 0x40);
  expect_user_code(at(kKernel + 0x100, true), 0x29, 0x3030);
  EXPECT_FALSE(aarch64_entry_task(*other.file));
}

TEST_F(Aarch64EntryCodeTest, OnTheExitPath) {
  machine_.store(kFrame + 8 * kFp, {0x29, 0x3030, kUserSp + 16, kUserPc + 4, 0});
  const auto registers = at(kKernel + kRet + 0x24, true);
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(kPc), kUserPc + 4);
  EXPECT_EQ(registers->get(kSp), kUserSp + 16);
  EXPECT_EQ(registers->get(kFp), 0x29u);
  // The stack pointer's register has user code's value: its stack is where that says.
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
}

TEST_F(Aarch64EntryCodeTest, InTheTrampoline) {
  expect_user_code(at(kTrampoline + 0xc00), 0x100 + kFp, 0x100 + kLr);
  expect_user_code(at(kTrampoline + 0xc1c), 0x100 + kFp, 0x30);
  expect_user_code(at(kTrampoline + 0x1008), 0x29, 0x100 + kLr);  // before mrs x29, FAR_EL1
  expect_user_code(at(kTrampoline + 0x100c), 0x100 + kFp, 0x100 + kLr);
  machine_.store(kFrame + 8 * kFp, {0x2929, 0x3030, kUserSp, kUserPc, 0});
  expect_user_code(at(kTrampoline + 0x1000, true), 0x2929, 0x3030);
}

TEST_F(Aarch64EntryCodeTest, CodeOfTheKernel) {
  machine_.store(kFrame + 8 * kFp, {0x29, 0x3030, kUserSp, kUserPc, 0});
  EXPECT_FALSE(at(kKernel + 0x100, true));  // the task is not known there
  machine_.registers.set(kSpEl0, kTask);
  expect_user_code(at(kKernel + 0x100, true), 0x29, 0x3030);
  EXPECT_FALSE(machine_.user_stack(*code_));
}

TEST_F(Aarch64EntryCodeTest, FindsTheTaskOfEntries) {
  EXPECT_EQ(aarch64_entry_task(*kernel_.file),
            (ImageAddr{((kKernel + kSync) & ~0xfffull) + 0x1c9000 + 712}));
}

}  // namespace arm

namespace riscv {

using namespace arch::riscv64;

constexpr std::uint64_t kKernel = 0xffffffff80a76000;
constexpr std::uint64_t kFrame = 0xff20000000013ee0;  // struct pt_regs, 288 bytes
constexpr std::uint64_t kTask = 0xff60000001a80000;
constexpr std::uint64_t kUserSp = 0x3fffe12340;
constexpr std::uint64_t kUserPc = 0x2aaab01234;

// Assembled from arch/riscv/kernel/entry.S of 6.12, without half of its stores.
const std::vector<std::uint32_t> kEntry = {
    0x14021273,  // 0x00 csrrw tp, sscratch, tp
    0x00021663,  // 0x04 bnez tp, .+12
    0x14002273,  // 0x08 csrr tp, sscratch
    0x00223423,  // 0x0c sd sp, 8(tp)
    0x00223823,  // 0x10 sd sp, 16(tp)
    0x00823103,  // 0x14 ld sp, 8(tp)
    0xee010113,  // 0x18 addi sp, sp, -288
    0x00113423,  // 0x1c sd ra, 8(sp)
    0x04813023,  // 0x20 sd s0, 64(sp)
    0x04913423,  // 0x24 sd s1, 72(sp)
    0x01023403,  // 0x28 ld s0, 16(tp)
    0x1002b4f3,  // 0x2c csrrc s1, sstatus, t0
    0x14102973,  // 0x30 csrr s2, sepc
    0x00813823,  // 0x34 sd s0, 16(sp)
    0x10913023,  // 0x38 sd s1, 256(sp)
    0x01213023,  // 0x3c sd s2, 0(sp)
    0x14001073,  // 0x40 csrw sscratch, zero
};

class Riscv64EntryCodeTest : public ::testing::Test {
 protected:
  Riscv64EntryCodeTest()
      : bytes_(code_of({{0, kEntry}}, 0x400)),
        kernel_(testing::kernel_of(Arch::kRiscv64, kKernel, bytes_, {{"handle_exception", 0}})) {
    pt_regs_.size = 288;
    for (std::uint8_t reg = kRa; reg <= kT6; ++reg)
      pt_regs_.frame.save(reg, static_cast<std::int16_t>(8 * reg));
    pt_regs_.frame.save(kPc, 0).save(kSstatus, 256);
    code_ = riscv64_entry_code(kernel_, pt_regs_);
    machine_.arch = Arch::kRiscv64;
    for (std::uint8_t reg = kRa; reg <= kT6; ++reg) machine_.registers.set(reg, 0x100u + reg);
    machine_.registers.set(kTp, kTask);
    machine_.registers.set(kSp, kUserSp);
    machine_.registers.set(kSepc, kUserPc);
    machine_.registers.set(kSstatus, 0x20);
  }
  std::optional<arch::Registers> at(std::uint64_t offset, bool has_saved = false) {
    machine_.registers.set(kPc, kKernel + offset);
    const wire::Capture capture = has_saved ? machine_.capture(kFrame, 288) : machine_.capture();
    EntryCode::Copied copied;
    if (has_saved) copied.saved = &capture.pieces.front();
    return code_->user_registers(capture, copied);
  }
  void expect_user_code(const std::optional<arch::Registers>& registers, std::uint64_t link,
                        std::uint64_t fp) {
    ASSERT_TRUE(registers);
    EXPECT_EQ(registers->get(kPc), kUserPc);
    EXPECT_EQ(registers->get(kSp), kUserSp);
    EXPECT_EQ(registers->get(kRa), link);
    EXPECT_EQ(registers->get(kFp), fp);
  }

  std::vector<std::byte> bytes_;
  elf::Image kernel_;
  UserRegisters pt_regs_;
  std::unique_ptr<EntryCode> code_;
  EntryMachine machine_;
};

TEST_F(Riscv64EntryCodeTest, OnTheUsersStack) {
  expect_user_code(at(0x10), 0x100 + kRa, 0x100 + kFp);
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
}

TEST_F(Riscv64EntryCodeTest, WhileRegistersAreSaved) {
  machine_.registers.set(kSp, kFrame);
  machine_.memory[kTask + 16] = kUserSp;
  machine_.memory[kFrame + 8] = 0x1;
  machine_.memory[kFrame + 64] = 0x8;
  expect_user_code(at(0x20), 0x1, 0x100 + kFp);
  expect_user_code(at(0x30), 0x1, 0x8);
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  machine_.memory[kFrame + 16] = kUserSp;
  machine_.memory.erase(kTask + 16);
  EXPECT_FALSE(at(0x30));
}

TEST_F(Riscv64EntryCodeTest, WhenItInterruptsTheKernel) {
  machine_.registers.set(kSp, kFrame - 0x400);
  machine_.registers.set(kSstatus, 0x120);
  machine_.memory[kTask + 16] = kFrame - 0x200;  // the kernel's, put away too
  machine_.memory[kFrame] = kUserPc;
  machine_.memory[kFrame + 8] = 0x1;
  machine_.memory[kFrame + 16] = kUserSp;
  machine_.memory[kFrame + 64] = 0x8;
  expect_user_code(at(0x30, true), 0x1, 0x8);
  EXPECT_FALSE(machine_.user_stack(*code_));
  expect_user_code(at(0x200, true), 0x1, 0x8);
  EXPECT_FALSE(at(0x200));
}

}  // namespace riscv

}  // namespace
}  // namespace ringside::guestos
