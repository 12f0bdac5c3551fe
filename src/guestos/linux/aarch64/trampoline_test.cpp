#include "guestos/linux/aarch64/trampoline.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "elf/elf_writer.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kText = 0xffff800008012000;
constexpr std::uint64_t kTrampoline = 0xffff800009388000;

// A kernel whose exit path to user mode is this code.
std::shared_ptr<const elf::ElfFile> kernel_with(const std::vector<std::uint32_t>& exit_path) {
  std::vector<std::byte> text(4096);
  std::memcpy(text.data(), exit_path.data(), 4 * exit_path.size());
  std::vector<std::byte> trampoline(0x3000, std::byte{0x1f});
  elf::ElfWriter writer(Arch::kAArch64, true, ET_EXEC);
  writer.add_segment({kText}, text.size(), true, false, text);
  writer.add_segment({kTrampoline}, trampoline.size(), true, false, trampoline);
  const std::uint8_t info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
  writer.set_symbols(
      {{.name = "ret_to_user", .address = {kText}, .info = info},
       {.name = "__entry_tramp_text_start", .address = {kTrampoline}, .info = info},
       {.name = "tramp_vectors", .address = {kTrampoline}, .info = info},
       {.name = "tramp_exit_native", .address = {kTrampoline + 0x2000}, .info = info},
       {.name = "__entry_tramp_text_end", .address = {kTrampoline + 0x3000}, .info = info}});
  auto file = elf::ElfFile::from_bytes(writer.write(), "vmlinux");
  EXPECT_TRUE(file);
  return file ? *file : nullptr;
}

// From Debian's 6.1 arm64 kernel, as llvm-objdump shows it:
//   mov x30, #-0x40000000001; movk x30, #0xfdbf, lsl #16; movk x30, #0x6000; adrp x29, …
TEST(Aarch64Trampoline, IsWhereTheExitPathLeads) {
  const auto kernel = kernel_with({0xd503201f, 0x92c0801e, 0xf2bfb7fe, 0xf28c001e, 0x90009bdd});
  const auto found = find_trampoline(*kernel);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->alias, GuestVirt{0xfffffbfffdbf6000});
  EXPECT_EQ(found->code, ImageAddr{kTrampoline});
  EXPECT_EQ(found->bytes, 0x3000u);
  const auto image = trampoline_image(*kernel);
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->from_guest);
  EXPECT_TRUE(image->file->is_code({0xfffffbfffdbf8024}));
  EXPECT_EQ(image->file->symbol_named("tramp_exit_native")->address, ImageAddr{0xfffffbfffdbf8000});
  EXPECT_EQ(image->file->bytes_at({0xfffffbfffdbf8ffc}, 8).size(), 4u);  // its end
}

// Later kernels load the address of tramp_exit_native: movk x30, #0x8000 in the end.
TEST(Aarch64Trampoline, MayBeGivenByItsExit) {
  const auto kernel = kernel_with({0x92c0801e, 0xf2bfb7fe, 0xf290001e, 0xd61f03c0});
  const auto found = find_trampoline(*kernel);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->alias, GuestVirt{0xfffffbfffdbf6000});
}

// Debian's kallsyms has no symbols of read-only data: adrp x29 and add of the exit, then of the
// start, show where the trampoline lies.
TEST(Aarch64Trampoline, IsFoundByTheCodeAlone) {
  const std::vector<std::uint32_t> exit_path = {
      0x92c0801e, 0xf2bfb7fe, 0xf28c001e, 0xd0009bdd,  // adrp x29, 0xffff80000938c000
      0x910003bd, 0x8b1d03de, 0xb0009bdd,              // adrp x29, 0xffff80000938b000
      0x910003bd, 0xcb1d03de, 0xd61f03c0};
  std::vector<std::byte> text(4096);
  std::memcpy(text.data(), exit_path.data(), 4 * exit_path.size());
  const std::vector<std::byte> data(0x3000, std::byte{0x1f});
  elf::ElfWriter writer(Arch::kAArch64, true, ET_EXEC);
  writer.add_segment({kText}, text.size(), true, false, text);
  writer.add_segment({0xffff80000938b000}, data.size(), false, false, data);
  writer.set_symbols(
      {{.name = "ret_to_user", .address = {kText}, .info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)}});
  const auto kernel = elf::ElfFile::from_bytes(writer.write(), "vmlinux");
  ASSERT_TRUE(kernel);
  const auto found = find_trampoline(**kernel);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->alias, GuestVirt{0xfffffbfffdbf6000});
  EXPECT_EQ(found->code, ImageAddr{0xffff80000938b000});
  EXPECT_EQ(found->exit, 0x1000u);
  EXPECT_EQ(found->bytes, 0x2000u);
  const auto image = trampoline_image(**kernel);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->file->symbol_named("tramp_exit_native")->address, ImageAddr{0xfffffbfffdbf7000});
}

TEST(Aarch64Trampoline, IsNotThereWithoutItsConstant) {
  EXPECT_FALSE(find_trampoline(*kernel_with({0xd503201f, 0xd65f03c0})));
  // A small constant; and two registers' pieces.
  EXPECT_FALSE(find_trampoline(*kernel_with({0xd280001e, 0xf2bfb7fe, 0xf28c001e})));
  EXPECT_FALSE(find_trampoline(*kernel_with({0x92c0801e, 0xf2bfb7fd, 0xf28c001d})));
}

}  // namespace
}  // namespace ringside::guestos
