#include "symbols/symbol_table.h"

#include <gtest/gtest.h>

namespace ringside::symbols {
namespace {

// The file is that of src/elf/testdata/tiny.S.
class SymbolTableTest : public testing::Test {
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

TEST_F(SymbolTableTest, ASymbolBelowIsFoundWhereverItEnds) {
  EXPECT_EQ(table_.find_below(entry_ + 605)->raw, "global_alias");
  EXPECT_EQ(table_.find_below(entry_ + 3)->raw, "inner_label");
  EXPECT_FALSE(table_.find_below(entry_ - 1));
}

}  // namespace
}  // namespace ringside::symbols
