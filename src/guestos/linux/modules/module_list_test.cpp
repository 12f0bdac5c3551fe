#include "guestos/linux/modules/module_list.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elf/elf_writer.h"

namespace ringside::guestos {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kDataBytes = 0x1000000;

struct Code {
  Arch arch;
  std::uint64_t address;
  std::vector<std::uint8_t> bytes;
  std::uint64_t data;
};

std::shared_ptr<const elf::ElfFile> kernel_of(const Code& code, const char* function,
                                              bool names_data = false) {
  const bool is_64 = code.arch != Arch::kI386;
  elf::ElfWriter writer(code.arch, is_64, ET_EXEC);
  writer.add_segment({code.address}, code.bytes.size(), true, false,
                     std::as_bytes(std::span(code.bytes)));
  writer.add_segment({code.data}, kDataBytes, false, true, {});
  std::vector<elf::ElfWriter::Symbol> symbols = {
      {.name = function, .address = {code.address}, .info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)}};
  if (names_data)
    symbols.push_back({.name = "modules",
                       .address = {code.data + 0x80},
                       .info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)});
  writer.set_symbols(std::move(symbols));
  auto file = elf::ElfFile::from_bytes(writer.write(), "vmlinux");
  EXPECT_TRUE(file);
  return file ? *file : nullptr;
}

// find_module_all() of Debian's 6.1.192 for arm64, as llvm-objdump shows it. `modules` is in a
// structure with what belongs to it; m_start() passes it on as 0xffff8000098bc000 + 1552.
//   nop; nop; paciasp; stp; mov; stp; adrp x21, 0xffff8000098bc000; add x21, x21, #1472;
//   stp; stp; mov; ldr x0, [x21, #80]!
const Code kArm64{Arch::kAArch64,
                  0xffff80000814f490,
                  {0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5, 0x3f, 0x23, 0x03, 0xd5,
                   0xfd, 0x7b, 0xbc, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0xf5, 0x5b, 0x02, 0xa9,
                   0x75, 0xbb, 0x00, 0xb0, 0xb5, 0x02, 0x17, 0x91, 0xf3, 0x53, 0x01, 0xa9,
                   0xf7, 0x63, 0x03, 0xa9, 0xf8, 0x03, 0x00, 0xaa, 0xa0, 0x0e, 0x45, 0xf8},
                  0xffff800009000000};

// The same of 6.1.176 for 686; its `modules` is at 0xc1cc74e4, as gdb says of the vmlinux.
//   call; push; mov; push (3); sub; mov; mov 0xc1cc74e4,%ecx; mov; cmp $0xc1cc74e4,%ecx
const Code k686{Arch::kI386,
                0xc1100580,
                {0xe8, 0x5b, 0x91, 0xf5, 0xff, 0x55, 0x89, 0xe5, 0x57, 0x56, 0x53,
                 0x83, 0xec, 0x08, 0x88, 0x4d, 0xf3, 0x8b, 0x0d, 0xe4, 0x74, 0xcc,
                 0xc1, 0x89, 0x45, 0xec, 0x81, 0xf9, 0xe4, 0x74, 0xcc, 0xc1},
                0xc1a00000};

TEST(ModuleList, IsWhereTheCodeThatWalksItSays) {
  const auto arm64 = find_module_lists(*kernel_of(kArm64, "find_module_all"));
  EXPECT_THAT(arm64, ElementsAre(ImageAddr{0xffff8000098bc5c0}, ImageAddr{0xffff8000098bc610}));
  EXPECT_THAT(find_module_lists(*kernel_of(kArm64, "print_modules")),
              ElementsAre(arm64[0], arm64[1]));
  EXPECT_THAT(find_module_lists(*kernel_of(k686, "find_module_all")),
              ElementsAre(ImageAddr{0xc1cc74e4}));
}

TEST(ModuleList, IsTheVariableWhereThatHasAName) {
  EXPECT_THAT(find_module_lists(*kernel_of(kArm64, "find_module_all", true)),
              ElementsAre(ImageAddr{kArm64.data + 0x80}));
}

TEST(ModuleList, IsNotOutsideOfTheKernel) {
  Code code = kArm64;
  code.data = 0xffff80000a000000;
  EXPECT_THAT(find_module_lists(*kernel_of(code, "find_module_all")), IsEmpty());
  EXPECT_THAT(find_module_lists(*kernel_of(kArm64, "schedule")), IsEmpty());
}

}  // namespace
}  // namespace ringside::guestos
