#include "symbols/nm/listed_image.h"

#include <gtest/gtest.h>

#include "symbols/nm/nm_text.h"
#include "symbols/symbol_table.h"

namespace ringside::symbols {
namespace {

Result<std::shared_ptr<const elf::ElfFile>> image_of(const std::string& text,
                                                     Arch arch = Arch::kX86_64) {
  auto list = parse_nm_text(text, "list");
  EXPECT_TRUE(list);
  return elf_of_symbols(std::move(*list), arch, "list");
}

TEST(ListedImage, HasTheFunctionsAndTheirCode) {
  const auto file = image_of(
      "ffffffff80000000 0000000000000100 T kernel::start\n"
      "ffffffff80000180 0000000000000080 t <u8 as core::fmt::Debug>::fmt\n"
      "ffffffff80200000 0000000000000040 D table\n"
      "ffffffff80400000 0000000000000020 t init::run\n"
      "ffffffffc0000000 0000000000000020 t module_init\t[module]\n");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->arch(), Arch::kX86_64);
  EXPECT_EQ((*file)->name(), "list");
  EXPECT_FALSE((*file)->is_on_disk());
  const SymbolTable table = SymbolTable::from_elf(*file);
  ASSERT_EQ(table.symbols().size(), 3u);
  EXPECT_EQ(table.symbols()[1].raw, "<u8 as core::fmt::Debug>::fmt");
  EXPECT_EQ(table.symbols()[1].size, 0x80u);
  // Between functions is padding, or code that has lost its name; far from them is none.
  EXPECT_TRUE((*file)->is_code({0xffffffff80000140}));
  EXPECT_FALSE((*file)->is_code({0xffffffff80000200}));
  EXPECT_FALSE((*file)->is_code({0xffffffff80200000}));
  EXPECT_TRUE((*file)->is_code({0xffffffff8040001f}));
  EXPECT_FALSE((*file)->is_code({0xffffffffc0000000}));
  ASSERT_EQ((*file)->segments().size(), 2u);
  EXPECT_EQ((*file)->segments()[0].address.value, 0xffffffff80000000);
  EXPECT_EQ((*file)->segments()[0].memory_size, 0x200u);
}

TEST(ListedImage, FunctionsWithoutSizeReachToTheNextSymbol) {
  const auto file = image_of(
      "ffffffff81000000 T first\n"
      "ffffffff81000040 T second\n"
      "ffffffff81000080 D data\n");
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->is_code({0xffffffff8100007f}));
  EXPECT_FALSE((*file)->is_code({0xffffffff81000080}));
  EXPECT_EQ(SymbolTable::from_elf(*file).find({0xffffffff81000030})->raw, "first");
}

TEST(ListedImage, InAListWithSizesALineWithoutOneNamesNothing) {
  const auto file = image_of(
      "ffffffff81000000 0000000000000010 T first\n"
      "ffffffff81000010 T label\n"
      "ffffffff81000080 0000000000000010 T second\n"
      "ffffffff81000090 T __text_end\n");
  ASSERT_TRUE(file);
  const SymbolTable table = SymbolTable::from_elf(*file);
  ASSERT_EQ(table.symbols().size(), 2u);
  EXPECT_FALSE(table.find({0xffffffff81000010}));
  EXPECT_EQ(table.find({0xffffffff8100008f})->raw, "second");
  EXPECT_FALSE((*file)->is_code({0xffffffff81000090}));
}

TEST(ListedImage, HasFewSegments) {
  std::string text;
  for (int i = 0; i < 100'000; ++i)
    text += fmt::format("{:016x} 0000000000000010 T f{}\n", 0x100000 * std::uint64_t(i) + 16, i);
  const auto file = image_of(text);
  ASSERT_TRUE(file);
  EXPECT_LE((*file)->segments().size(), 64u);
  EXPECT_EQ(SymbolTable::from_elf(*file).symbols().size(), 100'000u);
}

TEST(ListedImage, EveryAddressMayBeInIt) {
  const auto file = image_of(
      "0000000000000001 ffffffffffffffff T all\n"
      "fffffffffffffff0 ffffffffffffffff T end\n");
  ASSERT_TRUE(file) << file.error().message;
}

TEST(ListedImage, SmallArchitecturesHaveSmallAddresses) {
  EXPECT_TRUE(image_of("c0100000 00000010 T start\n", Arch::kI386));
  const auto large = image_of("ffffffff81000000 T start\n", Arch::kI386);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kMismatch);
  EXPECT_TRUE(image_of("ffffffff81000000 T start\n", Arch::kUnknown));
}

TEST(ListedImage, AListWithoutFunctionsIsNone) {
  const auto none = image_of("ffffffff81000000 D data\n");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kFormat);
}

}  // namespace
}  // namespace ringside::symbols
