#include "guestos/linux/types.h"

#include <gtest/gtest.h>

#include "elf/elf_writer.h"
#include "guestos/linux/stack_size.h"
#include "guestos/testdata/linux_types.h"

namespace ringside::guestos {
namespace {

#define FIELD(type, member) \
  (Field{offsetof(type, member), static_cast<std::uint32_t>(sizeof(type::member))})

TEST(LinuxTypes, FieldsAreWhereTheCompilerPutsThem) {
  const auto file = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  const auto types = LinuxTypes::of(*file);
  ASSERT_TRUE(types) << types.error().message;
  EXPECT_EQ(types->arch, Arch::kX86_64);
  EXPECT_EQ(types->thread_size, 0x4000u);
  EXPECT_EQ(types->task.pid, FIELD(task_struct, pid));
  EXPECT_EQ(types->task.tgid, FIELD(task_struct, tgid));
  EXPECT_EQ(types->task.comm, FIELD(task_struct, comm));
  EXPECT_EQ(types->task.mm, FIELD(task_struct, mm));
  EXPECT_EQ(types->task.active_mm, FIELD(task_struct, active_mm));
  EXPECT_EQ(types->task.stack, FIELD(task_struct, stack));
  EXPECT_EQ(types->task.flags, FIELD(task_struct, flags));
  EXPECT_EQ(types->task.start_time, FIELD(task_struct, start_time));
  EXPECT_EQ(types->mm.pgd, FIELD(mm_struct, pgd));
  EXPECT_EQ(types->mm.map_count, FIELD(mm_struct, map_count));
  EXPECT_EQ(types->mm.exec_vm, FIELD(mm_struct, exec_vm));
  EXPECT_EQ(types->mm.start_code, FIELD(mm_struct, start_code));
  EXPECT_EQ(types->mm.start_stack, FIELD(mm_struct, start_stack));
  EXPECT_EQ(types->mm.exe_file, FIELD(mm_struct, exe_file));
}

TEST(LinuxTypes, UserRegisters) {
  const auto file = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  const auto types = LinuxTypes::of(*file);
  ASSERT_TRUE(types) << types.error().message;
  const UserRegisters& registers = types->user_registers;
  EXPECT_EQ(registers.size, sizeof(pt_regs));
  EXPECT_EQ(registers.below_stack_end, sizeof(pt_regs));
  using namespace wire::x86_64;
  EXPECT_EQ(registers.frame.offsets[kR15], offsetof(pt_regs, r15));
  EXPECT_EQ(registers.frame.offsets[kRdi], offsetof(pt_regs, di));
  EXPECT_EQ(registers.frame.offsets[kRip], offsetof(pt_regs, ip));
  EXPECT_EQ(registers.frame.offsets[kCs], offsetof(pt_regs, cs));
  EXPECT_EQ(registers.frame.offsets[kRsp], offsetof(pt_regs, sp));
  EXPECT_FALSE(registers.frame.saves(kGsBase));
}

// The layout of i386 is written down here: psABI, 4 bytes each. vm86 needs 16 bytes above.
TEST(LinuxTypes, UserRegistersOf32Bits) {
  const auto file = elf::ElfFile::open(RINGSIDE_LINUX_TYPES_32).value();
  const auto types = LinuxTypes::of(*file);
  ASSERT_TRUE(types) << types.error().message;
  EXPECT_EQ(types->arch, Arch::kI386);
  EXPECT_EQ(types->user_registers.size, 68u);
  EXPECT_EQ(types->user_registers.below_stack_end, 68u + 16u);
  EXPECT_EQ(types->user_registers.frame.offsets[wire::i386::kEip], 48);
  EXPECT_EQ(types->user_registers.frame.offsets[wire::i386::kEbp], 20);
  EXPECT_EQ(types->mm.pgd, (Field{4, 4}));
}

TEST(KernelStackSize, ByArm64sTestForAnOverflow) {
  // sub sp, sp, #0x150; add sp, sp, x0; sub x0, sp, x0; tbnz x0, #14, +16 (llvm-mc 14)
  constexpr std::array<std::uint32_t, 4> kCode = {0xd10543ff, 0x8b2063ff, 0xcb2063e0, 0x37700080};
  elf::ElfWriter writer(Arch::kAArch64, true, 2);
  constexpr ImageAddr kAt{0xffff800008010800};
  writer.add_segment(kAt, sizeof kCode, true, false, std::as_bytes(std::span(kCode)));
  writer.set_symbols({{.name = "vectors", .address = kAt}});
  const auto file = elf::ElfFile::from_bytes(writer.write(), "kernel");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(kernel_stack_size(**file), 0x4000u);
}

TEST(LinuxTypes, WhatIsMissingIsNamed) {
  const auto no_types = elf::ElfFile::open(RINGSIDE_ENTRIES_PROGRAM).value();
  EXPECT_EQ(LinuxTypes::of(*no_types).error().code, ErrorCode::kNotFound);
  const auto others = elf::ElfFile::open(RINGSIDE_OTHER_TYPES).value();
  const auto error = LinuxTypes::of(*others).error();
  EXPECT_NE(error.message.find("struct task_struct has no pid"), error.message.npos)
      << error.message;
}

}  // namespace
}  // namespace ringside::guestos
