#include "guestos/linux/entry/entry_code.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "arch/arch_info.h"
#include "guestos/guest_memory.h"
#include "guestos/linux/i386/entry_code.h"
#include "guestos/linux/x86/common.h"
#include "guestos/linux/x86_64/entry_code.h"
#include "guestos/testing/entry_machine.h"

// Contents of registers and memory between the instructions of arch/x86/entry/entry_64.S and
// entry_32.S of Linux 6.1.

namespace ringside::guestos {
namespace {

using testing::EntryMachine;
using testing::FewTypes;

constexpr std::size_t kCode = 0x400;  // bytes of a kernel

// `call` from `at` to `to`.
void put_call(std::vector<std::byte>& code, std::size_t at, std::size_t to) {
  const auto distance = static_cast<std::int32_t>(to) - static_cast<std::int32_t>(at) - 5;
  code[at] = std::byte{0xe8};
  std::memcpy(&code[at + 1], &distance, sizeof(distance));
}

template <std::size_t N>
UserRegisters pt_regs(const std::array<std::uint8_t, N>& order, std::int16_t word,
                      std::uint64_t size) {
  UserRegisters registers{.size = size, .below_stack_end = size, .frame = {}};
  for (std::size_t i = 0; i < N; ++i)
    if (order[i] != arch::RegisterRoles::kNone)
      registers.frame.save(order[i], static_cast<std::int16_t>(word * static_cast<int>(i)));
  return registers;
}

namespace x64 {

using namespace arch::x86_64;

constexpr std::uint64_t kKernel = 0xffffffff81e00000;
constexpr std::uint64_t kTaskFrame = 0xffffc90000003f58;  // struct pt_regs, 168 bytes
constexpr std::uint64_t kEntryStackEnd = 0xfffffe0000003000;
constexpr std::uint64_t kUserSp = 0x7ffd1230;
constexpr std::uint64_t kUserPc = 0x55554321;
constexpr std::uint64_t kCr3Value = 0x3f00b001;

constexpr std::uint8_t kOrigAx = arch::RegisterRoles::kNone;
constexpr std::array<std::uint8_t, 21> kOrder{kR15, kR14,    kR13, kR12, kRbp,    kRbx, kR11,
                                              kR10, kR9,     kR8,  kRax, kRcx,    kRdx, kRsi,
                                              kRdi, kOrigAx, kRip, kCs,  kRflags, kRsp, kSs};

class X86_64EntryCodeTest : public ::testing::Test {
 protected:
  X86_64EntryCodeTest() {
    std::vector<std::byte> code(kCode, std::byte{0x90});
    put_call(code, 0x90, 0x200);
    put_call(code, 0x140, 0x240);
    kernel_ = testing::kernel_of(Arch::kX86_64, kKernel, code,
                                 {{"swapgs_restore_regs_and_return_to_usermode", 0x10},
                                  {"restore_regs_and_return_to_kernel", 0x20},
                                  {"entry_SYSCALL_64", 0x40},
                                  {"entry_SYSCALL_64_after_hwframe", 0x80},
                                  {"syscall_return_via_sysret", 0xa0},
                                  {"entry_SYSRETQ_unsafe_stack", 0xb0},
                                  {"__switch_to_asm", 0xc0},
                                  {"entry_SYSCALL_compat", 0x100},
                                  {"entry_INT80_compat", 0x180},
                                  {"do_syscall_64", 0x200},
                                  {"do_fast_syscall_32", 0x240},
                                  {"cpu_tss_rw", 0x300}});
    types_.members["tss_struct.x86_tss.sp2"] = {0x14, 8};
    types_.sizes["entry_stack"] = 4096;
    code_ = x86_64_entry_code(kernel_, pt_regs(kOrder, 8, 168), types_);
    // Without __per_cpu_offset the variable lies in the kernel: CPU 0 alone.
    EmptySpace memory;
    EXPECT_TRUE(code_->find(0, PerCpu(kernel_), memory).value());
    machine_.arch = Arch::kX86_64;
    at(0x40);
    for (std::uint8_t reg = kRax; reg <= kR15; ++reg) machine_.registers.set(reg, 0x100u + reg);
    machine_.registers.set(kCr3, kCr3Value);
    machine_.registers.set(kRsp, kUserSp);
  }

  void at(std::uint64_t offset) { machine_.registers.set(kRip, kKernel + offset); }
  [[nodiscard]] std::optional<arch::Registers> user(bool has_saved = false) {
    const wire::Capture capture =
        has_saved ? machine_.capture(kTaskFrame, 168) : machine_.capture();
    EntryCode::Copied copied;
    if (has_saved) copied.saved = &capture.pieces.front();
    return code_->user_registers(capture, copied);
  }

  elf::Image kernel_;
  FewTypes types_;
  std::unique_ptr<EntryCode> code_;
  EntryMachine machine_;
};

TEST_F(X86_64EntryCodeTest, AsTheProcessorEntersASystemCall) {
  machine_.registers.set(kRcx, kUserPc);
  machine_.registers.set(kR11, 0x246);
  const auto registers = user();
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(kRip), kUserPc);
  EXPECT_EQ(registers->get(kRsp), kUserSp);
  EXPECT_EQ(registers->get(kRflags), 0x246u);
  EXPECT_EQ(registers->get(kRbx), 0x100u + kRbx);
  EXPECT_EQ(registers->get(kCs) & 3, 3u);
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  // The same registers in other code say nothing.
  at(0x250);
  EXPECT_FALSE(user());
}

// SWITCH_TO_KERNEL_CR3 scratch_reg=%rsp, with and without X86_CR3_PCID_NOFLUSH.
TEST_F(X86_64EntryCodeTest, WithTheStackPointerPutAway) {
  machine_.registers.set(kRcx, kUserPc);
  machine_.memory[kKernel + 0x314] = kUserSp;
  for (const std::uint64_t flag : {std::uint64_t{0}, std::uint64_t{1} << 63}) {
    // Its page tables are chosen by bits 12 and 11.
    machine_.registers.set(kRsp, (kCr3Value & ~0x1800ull) | flag);
    const auto registers = user();
    ASSERT_TRUE(registers);
    EXPECT_EQ(registers->get(kRsp), kUserSp);
    EXPECT_EQ(registers->get(kRip), kUserPc);
    EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  }
  machine_.memory.clear();
  EXPECT_FALSE(user());
}

// PUSH_AND_CLEAR_REGS has come to rbx.
TEST_F(X86_64EntryCodeTest, WhileASystemCallSavesRegisters) {
  at(0x88);
  machine_.registers.set(kRsp, kTaskFrame + 0x28);
  machine_.store(kTaskFrame + 0x20, {0xdead, 0xb});
  machine_.store(kTaskFrame + 0x80, {kUserPc, 0x33, 0x246, kUserSp, 0x2b});
  const auto registers = user(true);
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(kRbx), 0xbu);
  EXPECT_EQ(registers->get(kRbp), 0x100u + kRbp);
  EXPECT_EQ(registers->get(kRip), kUserPc);
  EXPECT_EQ(registers->get(kRsp), kUserSp);
  // Down to cs: rip is in rcx. Down to ss: the stack pointer is nowhere that is known.
  machine_.registers.set(kRcx, kUserPc + 2);
  machine_.registers.set(kRsp, kTaskFrame + 0x88);
  EXPECT_EQ(user(true)->get(kRip), kUserPc + 2);
  EXPECT_EQ(user(true)->get(kRsp), kUserSp);
  machine_.registers.set(kRsp, kTaskFrame + 0xa0);
  EXPECT_FALSE(user(true));
}

// entry_SYSCALL_compat: the stack pointer is in r8 as soon as its own register is needed.
TEST_F(X86_64EntryCodeTest, OfA32BitSystemCall) {
  at(0x110);
  machine_.registers.set(kRcx, kUserPc);
  machine_.registers.set(kR8, 0xdead'0000'0000 | kUserSp);
  machine_.registers.set(kRsp, kCr3Value);
  const auto registers = user();
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(kRsp), kUserSp);
  EXPECT_EQ(registers->get(kRip), kUserPc);
  EXPECT_EQ(registers->get(kCs), 0x23u);  // __USER32_CS
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
}

// Words that another entry has pushed there cannot be identified, nor those that are left of the
// last one.
TEST_F(X86_64EntryCodeTest, InTheFrameByOtherCode) {
  at(0x190);
  machine_.registers.set(kRsp, kTaskFrame + 0x28);
  machine_.store(kTaskFrame + 0x80, {kUserPc, 0x33, 0x246, kUserSp, 0x2b});
  EXPECT_FALSE(user(true));
}

// entry_SYSENTER_compat: the stack pointer is in rbp until that is pushed and cleared; C code fills
// in the pc.
TEST_F(X86_64EntryCodeTest, BySysenter) {
  constexpr std::uint64_t kUser32Sp = 0xffd41230;
  const std::vector<std::byte> bytes = [] {
    std::vector<std::byte> code(kCode, std::byte{0x90});
    const std::array<unsigned char, 5> call{0xe8, 0x5b, 0x01, 0, 0};  // 0x0a5 to 0x200
    std::memcpy(&code[0xa0], call.data(), call.size());
    const std::array<unsigned char, 4> landing_pad{0x59, 0x05, 0, 0};
    std::memcpy(&code[0x308], landing_pad.data(), landing_pad.size());
    return code;
  }();
  types_.members["vdso_image.sym_int80_landing_pad"] = {8, 4};
  const elf::Image kernel = testing::kernel_of(Arch::kX86_64, kKernel, bytes,
                                               {{"entry_SYSENTER_compat", 0},
                                                {"entry_SYSENTER_compat_after_hwframe", 0x2a},
                                                {"__end_entry_SYSENTER_compat", 0xb7},
                                                {"do_SYSENTER_32", 0x200},
                                                {"vdso_image_32", 0x300}});
  code_ = x86_64_entry_code(kernel, pt_regs(kOrder, 8, 168), types_);
  EXPECT_EQ(code_->landing_pad(), 0x559u);
  const auto expect_user_code = [&](std::uint64_t pc, std::uint64_t sp, std::uint64_t rbp) {
    at(pc);
    machine_.registers.set(kRsp, sp);
    machine_.registers.set(kRbp, rbp);
    const auto registers = user(true);
    ASSERT_TRUE(registers);
    EXPECT_EQ(registers->get(kRip), 0u);
    EXPECT_EQ(registers->get(kCs), 0x23u);
    EXPECT_EQ(registers->get(kRsp), kUser32Sp);
    EXPECT_EQ(registers->get(kRbp), kUser32Sp);
  };
  expect_user_code(0, kEntryStackEnd, kUser32Sp);
  EXPECT_EQ(machine_.user_stack(*code_), kUser32Sp);
  expect_user_code(0x18, kEntryStackEnd - 8, kUser32Sp);
  // Values that an earlier call has left are not taken.
  machine_.store(kTaskFrame + 0x20, {0xbad});  // rbp
  machine_.store(kTaskFrame + 0x80, {0, 0x23, 0x46, 0, 0x2b});
  expect_user_code(0x30, kTaskFrame + 0x78, kUser32Sp);
  machine_.store(kTaskFrame + 0x20, {kUser32Sp});
  expect_user_code(0x75, kTaskFrame, 0);
  EXPECT_EQ(machine_.user_stack(*code_), kUser32Sp);
  expect_user_code(0x200, kTaskFrame - 8, 0);  // do_SYSENTER_32
  // Zeros of a thread that is the kernel's own, and of code that has jumped to 0.
  for (const std::uint64_t user_sp : {std::uint64_t{0}, kUserSp}) {
    machine_.store(kTaskFrame + 0x80, {0, 0x33, 0x46, user_sp, 0x2b});
    EXPECT_FALSE(user(true));
  }
  machine_.store(kTaskFrame + 0x80, {0, 0x23, 0x46, kUser32Sp, 0x2b});
  EXPECT_FALSE(user(true));
  // It has filled them in.
  machine_.store(kTaskFrame + 0x80, {kUserPc, 0x23, 0x46, kUser32Sp, 0x2b});
  machine_.registers.set(kRsp, kTaskFrame - 0x100);
  EXPECT_EQ(user(true)->get(kRip), kUserPc);
}

// An interrupt leaves hardware's frame there, then one register after the other.
TEST_F(X86_64EntryCodeTest, OnTheEntryStack) {
  at(0x220);
  machine_.registers.set(kRsp, kEntryStackEnd - 40);
  machine_.store(kEntryStackEnd - 40, {kUserPc, 0x33, 0x246, kUserSp, 0x2b});
  auto registers = user();
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(kRip), kUserPc);
  EXPECT_EQ(registers->get(kRsp), kUserSp);
  EXPECT_EQ(registers->get(kRbx), 0x100u + kRbx);
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  machine_.registers.set(kRsp, kEntryStackEnd - 168 + 0x28);
  machine_.store(kEntryStackEnd - 168 + 0x20, {0xdead, 0xb});
  registers = user();
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(kRbx), 0xbu);
  EXPECT_EQ(registers->get(kRbp), 0x100u + kRbp);
  machine_.registers.set(kRsp, kEntryStackEnd - 16);
  EXPECT_FALSE(user());
  // Code that has jumped to 0: that is where C code will say it was.
  machine_.registers.set(kRsp, kEntryStackEnd - 80);
  machine_.store(kEntryStackEnd - 40, {0, 0x33, 0x246, kUserSp, 0x2b});
  EXPECT_FALSE(user());
  // Words of an exit path, not hardware's.
  machine_.registers.set(kRsp, kEntryStackEnd - 80);
  machine_.store(kEntryStackEnd - 40, {0x1234, 0xabcf, 0x246, 0xd1, kUserSp});
  EXPECT_FALSE(user());
}

TEST_F(X86_64EntryCodeTest, OnTheExitPath) {
  // `sysret` with user code's page tables: its rsp and rdi are on the entry stack.
  at(0xa8);
  machine_.registers.set(kRcx, kUserPc);
  machine_.registers.set(kRsp, kEntryStackEnd - 16);
  machine_.store(kEntryStackEnd - 16, {0xd1, kUserSp});
  auto registers = user();
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(kRip), kUserPc);
  EXPECT_EQ(registers->get(kRsp), kUserSp);
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  // With the kernel's, and before all is there: what was saved is.
  machine_.store(kTaskFrame + 0x80, {kUserPc + 1, 0x33, 0x246, kUserSp + 8, 0x2b});
  for (const std::uint64_t code : {0xa4u, 0x18u}) {
    at(code);
    machine_.registers.set(kRsp, kEntryStackEnd - 8);
    registers = user(true);
    ASSERT_TRUE(registers);
    EXPECT_EQ(registers->get(kRip), kUserPc + 1);
    EXPECT_EQ(registers->get(kRsp), kUserSp + 8);
  }
  // Registers are back, and may have been used: memory has them still.
  at(0x14);
  machine_.registers.set(kRsp, kTaskFrame + 0x30);
  EXPECT_EQ(user(true)->get(kRbx), 0u);
}

TEST_F(X86_64EntryCodeTest, BehindIt) {
  at(0x250);
  machine_.registers.set(kRsp, kTaskFrame - 0x100);
  machine_.store(kTaskFrame + 0x80, {kUserPc, 0x33, 0x246, kUserSp, 0x2b});
  EXPECT_EQ(user(true)->get(kRip), kUserPc);
  EXPECT_FALSE(machine_.user_stack(*code_));
  EXPECT_FALSE(user());
}

// Nor is what lies between two labels that have changed their order.
TEST_F(X86_64EntryCodeTest, WithDamagedSymbols) {
  std::vector<std::byte> code(kCode, std::byte{0x90});
  const elf::Image kernel =
      testing::kernel_of(Arch::kX86_64, kKernel, code,
                         {{"restore_regs_and_return_to_kernel", 0x10},
                          {"swapgs_restore_regs_and_return_to_usermode", 0x20},
                          {"entry_SYSCALL_64", 0x3ff},
                          {"do_syscall_64", 0x200}});
  code_ = x86_64_entry_code(kernel, pt_regs(kOrder, 8, 168), types_);
  at(0x220);
  machine_.registers.set(kRsp, kTaskFrame + 0x28);
  machine_.store(kTaskFrame + 0x80, {kUserPc, 0x33, 0x246, kUserSp, 0x2b});
  EXPECT_FALSE(user(true));
}

// struct entry_stack was smaller than a page before Linux 5.16.
TEST_F(X86_64EntryCodeTest, WithoutAPageForTheEntryStack) {
  types_.sizes.clear();
  code_ = x86_64_entry_code(kernel_, pt_regs(kOrder, 8, 168), types_);
  at(0x220);
  machine_.registers.set(kRsp, kEntryStackEnd - 40);
  machine_.store(kEntryStackEnd - 40, {kUserPc, 0x33, 0x246, kUserSp, 0x2b});
  EXPECT_FALSE(user());
  EXPECT_FALSE(machine_.user_stack(*code_));
}

}  // namespace x64

namespace x32 {

using namespace arch::i386;

constexpr std::uint64_t kKernel = 0xc1930000;
constexpr std::uint64_t kTaskFrame = 0xc2001fb4;  // struct pt_regs, 68 bytes
constexpr std::uint64_t kEntryStackEnd = 0xffa03000;
constexpr std::uint64_t kUserSp = 0xbf801230;
constexpr std::uint64_t kUserPc = 0x080ab321;
constexpr std::uint64_t kVdso = 0xb7f00000;
constexpr std::uint8_t kOther = arch::RegisterRoles::kNone;
constexpr std::array<std::uint8_t, 17> kOrder{kEbx, kEcx,   kEdx,    kEsi,   kEdi,   kEbp,
                                              kEax, kOther, kOther,  kOther, kOther, kOther,
                                              kEip, kCs,    kEflags, kEsp,   kSs};

class I386EntryCodeTest : public ::testing::Test {
 protected:
  I386EntryCodeTest() {
    std::vector<std::byte> code(kCode, std::byte{0x90});
    put_call(code, 0x60, 0x200);
    code[0x308] = std::byte{0x79};  // of the landing pad, with the byte behind it 0x0579
    code[0x309] = std::byte{0x05};
    code[0x30a] = code[0x30b] = std::byte{};
    kernel_ = testing::kernel_of(Arch::kI386, kKernel, code,
                                 {{"entry_SYSENTER_32", 0x40},
                                  {"entry_INT80_32", 0xc0},
                                  {"do_SYSENTER_32", 0x200},
                                  {"vdso_image_32", 0x300}});
    types_.members["vdso_image.sym_int80_landing_pad"] = {8, 4};
    types_.sizes["entry_stack"] = 4096;
    code_ = i386_entry_code(kernel_, pt_regs(kOrder, 4, 68), types_);
    machine_.arch = Arch::kI386;
    machine_.word = 4;
    for (std::uint8_t reg = kEax; reg <= kEdi; ++reg) machine_.registers.set(reg, 0x100u + reg);
    machine_.registers.set(kEsp, kEntryStackEnd);
    at(0x40);
  }

  void at(std::uint64_t offset) { machine_.registers.set(kEip, kKernel + offset); }
  [[nodiscard]] std::optional<arch::Registers> user(bool has_saved = false) {
    const wire::Capture capture = has_saved ? machine_.capture(kTaskFrame, 68) : machine_.capture();
    EntryCode::Copied copied{.saved = nullptr, .vdso = GuestVirt{kVdso}};
    if (has_saved) copied.saved = &capture.pieces.front();
    return code_->user_registers(capture, copied);
  }
  void expect_landing_pad(const std::optional<arch::Registers>& registers) {
    ASSERT_TRUE(registers);
    EXPECT_EQ(registers->get(kEip), kVdso + 0x579);
    EXPECT_EQ(registers->get(kEsp), kUserSp);
    EXPECT_EQ(registers->get(kCs) & 3, 3u);
  }

  elf::Image kernel_;
  FewTypes types_;
  std::unique_ptr<EntryCode> code_;
  EntryMachine machine_;
};

// The vDSO has moved its stack pointer to ebp; the kernel returns to a place of its choice.
TEST_F(I386EntryCodeTest, SysenterSavesNothing) {
  machine_.registers.set(kEbp, kUserSp);
  machine_.registers.set(kEsp, kEntryStackEnd - 8);  // flags and eax
  expect_landing_pad(user());
  expect_landing_pad(user(true));
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  // On the task's stack, down to the words for ss, esp, eflags, cs and eip.
  at(0x50);
  machine_.registers.set(kEsp, kTaskFrame + 48);
  machine_.store(kTaskFrame + 48, {0, 0x73, 0x202, 0, 0x7b});
  expect_landing_pad(user(true));
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  // All are saved, and C code has not come to its own yet.
  at(0x210);
  machine_.registers.set(kEsp, kTaskFrame - 16);
  machine_.registers.set(kEbp, 0);
  machine_.memory[kTaskFrame + 20] = kUserSp;
  expect_landing_pad(user(true));
  machine_.store(kTaskFrame + 48, {kUserPc, 0x73, 0x202, kUserSp + 4, 0x7b});
  EXPECT_EQ(user(true)->get(kEip), kUserPc);
  EXPECT_EQ(user(true)->get(kEsp), kUserSp + 4);
  EXPECT_FALSE(machine_.user_stack(*code_));
}

TEST_F(I386EntryCodeTest, SysexitTakesWhatItNeedsFromRegisters) {
  at(0x70);
  machine_.registers.set(kEsp, kEntryStackEnd - 8);
  machine_.registers.set(kEcx, kUserSp);
  machine_.registers.set(kEdx, kUserPc);
  const auto registers = user();
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(kEip), kUserPc);
  EXPECT_EQ(registers->get(kEsp), kUserSp);
  EXPECT_EQ(registers->get(kEbx), 0x100u + kEbx);
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  machine_.store(kTaskFrame + 48, {kUserPc + 2, 0x73, 0x202, kUserSp + 8, 0x7b});
  EXPECT_EQ(user(true)->get(kEip), kUserPc + 2);
}

TEST_F(I386EntryCodeTest, HardwareEntersOnTheEntryStack) {
  at(0x220);
  machine_.registers.set(kEsp, kEntryStackEnd - 20);
  machine_.store(kEntryStackEnd - 20, {kUserPc, 0x73, 0x202, kUserSp, 0x7b});
  auto registers = user();
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(kEip), kUserPc);
  EXPECT_EQ(registers->get(kEsp), kUserSp);
  EXPECT_EQ(registers->get(kEbx), 0x100u + kEbx);
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  machine_.registers.set(kEsp, kEntryStackEnd - 68 + 12);  // esi is pushed, edx is not
  machine_.memory[kEntryStackEnd - 68 + 12] = 0x51;
  registers = user();
  EXPECT_EQ(registers->get(kEsi), 0x51u);
  EXPECT_EQ(registers->get(kEbx), 0x100u + kEbx);
}

// `rep movsl` has moved ebx, ecx and edx to the task's stack.
TEST_F(I386EntryCodeTest, RegistersThatAreMoved) {
  at(0x220);
  const std::uint64_t from = kEntryStackEnd - 68;
  machine_.registers.set(kEsp, kTaskFrame);
  machine_.registers.set(kEdi, kTaskFrame + 12);
  machine_.registers.set(kEsi, from + 12);
  machine_.store(kTaskFrame, {0xb, 0xc, 0xd, 0xdead});
  machine_.store(from + 12, {0x51, 0xd1, 0xb9});
  machine_.store(from + 48, {kUserPc, 0x73, 0x202, kUserSp, 0x7b});
  const auto registers = user(true);
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->get(kEbx), 0xbu);
  EXPECT_EQ(registers->get(kEsi), 0x51u);
  EXPECT_EQ(registers->get(kEbp), 0xb9u);
  EXPECT_EQ(registers->get(kEip), kUserPc);
  EXPECT_EQ(registers->get(kEsp), kUserSp);
  EXPECT_EQ(machine_.user_stack(*code_), kUserSp);
  // All are moved.
  machine_.registers.set(kEdi, kTaskFrame + 68);
  machine_.registers.set(kEsi, kEntryStackEnd);
  EXPECT_FALSE(machine_.user_stack(*code_));
}

}  // namespace x32

}  // namespace
}  // namespace ringside::guestos
