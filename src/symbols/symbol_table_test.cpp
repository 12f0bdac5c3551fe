#include "symbols/symbol_table.h"

#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "elf/elf_writer.h"

namespace ringside::symbols {
namespace {

// The file is that of src/elf/testdata/tiny.S.
class SymbolTableTest : public ::testing::Test {
 protected:
  std::shared_ptr<const elf::ElfFile> file_ =
      elf::ElfFile::open(std::string(RINGSIDE_ELF_PROGRAMS) + "/tiny").value();
  SymbolTable table_ = SymbolTable::from_elf(file_);
  ImageAddr entry_ = file_->entry();

  [[nodiscard]] std::string_view name_at(ImageAddr at) const {
    const auto symbol = table_.find(at);
    return symbol ? symbol->raw : "nothing";
  }
};

TEST_F(SymbolTableTest, SizesAndLabels) {
  EXPECT_EQ(name_at(entry_), "_start");
  EXPECT_EQ(name_at(entry_ + 1), "_start");
  // Labels reach to the next symbol.
  EXPECT_EQ(name_at(entry_ + 2), "asm_label");
  EXPECT_EQ(table_.find(entry_ + 2)->size, 1u);
  EXPECT_EQ(name_at(entry_ + 3), "inner_label");
}

TEST_F(SymbolTableTest, GlobalAliasWins) {
  EXPECT_EQ(name_at(entry_ + 4), "global_alias");
  EXPECT_EQ(name_at(entry_ + 604), "global_alias");
  EXPECT_EQ(table_.find(entry_ + 4)->size, 601u);
}

TEST_F(SymbolTableTest, OutsideIsNothing) {
  EXPECT_EQ(name_at(entry_ - 1), "nothing");
  EXPECT_EQ(name_at(entry_ + 605), "nothing");
  EXPECT_EQ(name_at({0}), "nothing");
  EXPECT_EQ(name_at({~std::uint64_t{0}}), "nothing");
}

// As a boot loader that is linked into one segment, with a kernel in its data.
TEST(SymbolTable, ALabelWithoutASizeEndsWithItsSectionItsSegmentOrWhereDataBegins) {
  constexpr std::uint64_t kText = 0x100000;
  constexpr std::uint64_t kSegment = 0xc0000000;  // .data of 3 GB
  const std::vector<std::byte> bytes(0x400, std::byte{0x90});
  elf::ElfWriter writer(Arch::kI386, false, ET_EXEC);
  writer.add_segment({kText}, kSegment, true, true, bytes);
  const auto text =
      writer.map_section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {kText}, 0x200);
  const auto boot =
      writer.map_section(".boot", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {kText + 0x200}, 0x100);
  writer.map_section(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, {kText + 0x300}, 0x100);
  const std::uint8_t label = ELF32_ST_INFO(STB_GLOBAL, STT_NOTYPE);
  writer.set_symbols({{"entry", {kText}, 0, label, text},
                      {"table", {kText + 0x40}, 8, ELF32_ST_INFO(STB_GLOBAL, STT_OBJECT), text},
                      {"last", {kText + 0x1f0}, 0, label, text},
                      {"text_finish", {kText + 0x200}, 0, label, text},
                      {"last_of_all", {kText + 0x2f0}, 0, label, boot},
                      {"finish", {kText + 0x300}, 0, label, boot}});
  const auto table =
      SymbolTable::from_elf(elf::ElfFile::from_bytes(writer.write(), "loader").value());
  const auto size_of = [&](std::uint64_t at) {
    const auto symbol = table.find({at});
    return symbol ? fmt::format("{} {:#x}", symbol->raw, symbol->size) : std::string("nothing");
  };
  EXPECT_EQ(size_of(kText), "entry 0x40");
  EXPECT_EQ(size_of(kText + 0x40), "nothing");
  EXPECT_EQ(size_of(kText + 0x1ff), "last 0x10");
  EXPECT_EQ(size_of(kText + 0x200), "nothing");
  EXPECT_EQ(size_of(kText + 0x2ff), "last_of_all 0x10");
  EXPECT_EQ(size_of(kText + 0x300), "nothing");
  EXPECT_EQ(size_of(0xbff00000), "nothing");
}

TEST_F(SymbolTableTest, ASymbolBelowIsFoundWhereverItEnds) {
  EXPECT_EQ(table_.find_below(entry_ + 605)->raw, "global_alias");
  EXPECT_EQ(table_.find_below(entry_ + 3)->raw, "inner_label");
  EXPECT_FALSE(table_.find_below(entry_ - 1));
}

}  // namespace
}  // namespace ringside::symbols
