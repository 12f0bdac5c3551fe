#include "guestos/linux/types/linux_types.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "elf/elf_writer.h"
#include "guestos/linux/entry/stack_size.h"
#include "guestos/linux/tasks/clock.h"
#include "guestos/linux/tasks/current_task.h"
#include "guestos/linux/tasks/process_fields.h"
#include "guestos/testdata/linux_types.h"

namespace ringside::guestos {
namespace {

#define FIELD(type, member) \
  (Field{offsetof(type, member), static_cast<std::uint32_t>(sizeof(type::member))})

Result<LinuxTypes> types_of(const char* path) {
  const auto file = elf::ElfFile::open(path).value();
  RINGSIDE_ASSIGN(const auto source, open_types(file));
  return LinuxTypes::of(*file, *source);
}

// The kernel's types by BTF, and by DWARF.
class LinuxTypesTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, LinuxTypesTest,
                         ::testing::Values(RINGSIDE_LINUX_TYPES, RINGSIDE_LINUX_TYPES_DWARF));
class LinuxTypes32Test : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Formats, LinuxTypes32Test,
                         ::testing::Values(RINGSIDE_LINUX_TYPES_32, RINGSIDE_LINUX_TYPES_32_DWARF));

TEST_P(LinuxTypesTest, FieldsAreWhereTheCompilerPutsThem) {
  const auto types = types_of(GetParam());
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
  EXPECT_EQ(types->mm.vdso_image, FIELD(mm_struct, context.vdso_image));
  ASSERT_TRUE(types->vdso_image);
  EXPECT_EQ(types->vdso_image->data, FIELD(vdso_image, data));
  EXPECT_EQ(types->vdso_image->size, FIELD(vdso_image, size));
}

TEST_P(LinuxTypesTest, UserRegisters) {
  const auto types = types_of(GetParam());
  ASSERT_TRUE(types) << types.error().message;
  const UserRegisters& registers = types->user_registers;
  EXPECT_EQ(registers.size, sizeof(pt_regs));
  EXPECT_EQ(registers.below_stack_end, sizeof(pt_regs));
  using namespace arch::x86_64;
  EXPECT_EQ(registers.frame.offsets[kR15], offsetof(pt_regs, r15));
  EXPECT_EQ(registers.frame.offsets[kRdi], offsetof(pt_regs, di));
  EXPECT_EQ(registers.frame.offsets[kRip], offsetof(pt_regs, ip));
  EXPECT_EQ(registers.frame.offsets[kCs], offsetof(pt_regs, cs));
  EXPECT_EQ(registers.frame.offsets[kRsp], offsetof(pt_regs, sp));
  EXPECT_FALSE(registers.frame.saves(kGsBase));
}

// The layout of i386 is written down here: psABI, 4 bytes each. vm86 needs 16 bytes above.
TEST_P(LinuxTypes32Test, UserRegisters) {
  const auto types = types_of(GetParam());
  ASSERT_TRUE(types) << types.error().message;
  EXPECT_EQ(types->arch, Arch::kI386);
  EXPECT_EQ(types->user_registers.size, 68u);
  EXPECT_EQ(types->user_registers.below_stack_end, 68u + 16u);
  EXPECT_EQ(types->user_registers.frame.offsets[arch::i386::kEip], 48);
  EXPECT_EQ(types->user_registers.frame.offsets[arch::i386::kEbp], 20);
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
  const auto no_types = types_of(RINGSIDE_ENTRIES_PROGRAM).error();
  EXPECT_EQ(no_types.code, ErrorCode::kNotFound);
  EXPECT_NE(no_types.message.find("--kernel vmlinux"), std::string::npos) << no_types.message;
  const auto error = types_of(RINGSIDE_OTHER_TYPES).error();
  EXPECT_NE(error.message.find("struct task_struct has no pid"), error.message.npos)
      << error.message;
}

// Asks two sources the same, and says where they differ.
class ComparedTypes final : public TypeSource {
 public:
  ComparedTypes(const TypeSource& one, const TypeSource& other) : one_(one), other_(other) {}

  [[nodiscard]] std::optional<Field> member(std::string_view type,
                                            std::string_view path) const override {
    ++asked_;
    const auto found = one_.member(type, path);
    EXPECT_EQ(found, other_.member(type, path)) << type << "." << path;
    return found;
  }
  [[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view type) const override {
    ++asked_;
    const auto found = one_.size_of(type);
    EXPECT_EQ(found, other_.size_of(type)) << type;
    return found;
  }
  [[nodiscard]] std::optional<std::int64_t> enumerator(std::string_view name) const override {
    ++asked_;
    const auto found = one_.enumerator(name);
    EXPECT_EQ(found, other_.enumerator(name)) << name;
    return found;
  }
  [[nodiscard]] unsigned asked() const { return asked_; }

 private:
  const TypeSource& one_;
  const TypeSource& other_;
  mutable unsigned asked_ = 0;
};

// $RINGSIDE_VMLINUX: a kernel with both, such as script/fetch-linux-guest --vmlinux gives for
// amd64.
TEST(LinuxTypes, DwarfSaysOfAKernelWhatBtfSays) {
  const char* const path = std::getenv("RINGSIDE_VMLINUX");
  if (path == nullptr) GTEST_SKIP() << "$RINGSIDE_VMLINUX names no kernel";
  const auto file = elf::ElfFile::open(path).value();
  const auto btf = open_types(file).value();
  const auto dwarf = types_by_dwarf(file, {});
  ASSERT_TRUE(file->section(".BTF") && dwarf);
  const ComparedTypes types(*btf, *dwarf);
  EXPECT_TRUE(CurrentTask::of({1, "kernel", file, 0, false}, types));
  EXPECT_TRUE(ProcessFields::of(*file, types));
  EXPECT_TRUE(ClockFields::of(*file, types));
  EXPECT_GT(types.asked(), 100u);
}

// The error names the package with the types where the kernel contains its release.
TEST(LinuxTypes, ThePackageWithTypesIsNamed) {
  elf::ElfWriter writer(Arch::kI386, false, 2);
  constexpr ImageAddr kAt{0xc1000000};
  constexpr std::string_view kBanner("Linux version 6.1.0-50-686 (debian-kernel@lists.debian.org)");
  writer.add_segment(kAt, kBanner.size(), false, false, as_bytes(kBanner));
  writer.set_symbols({{.name = "linux_banner", .address = kAt, .size = kBanner.size(), .info = 1}});
  const auto file = elf::ElfFile::from_bytes(writer.write(), "kernel");
  ASSERT_TRUE(file) << file.error().message;
  const auto types = open_types(*file);
  ASSERT_FALSE(types);
  EXPECT_NE(types.error().message.find("linux-image-6.1.0-50-686-dbg"), std::string::npos)
      << types.error().message;
}

}  // namespace
}  // namespace ringside::guestos
