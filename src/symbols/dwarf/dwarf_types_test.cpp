#include "symbols/dwarf/dwarf_types.h"

#include <dwarf.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <sstream>

#include "elf/elf_writer.h"
#include "symbols/btf/testdata/structures.h"
#include "symbols/debug_files.h"
#include "symbols/dwarf/testdata/table.h"

namespace ringside::symbols {
namespace {

std::vector<std::string> words_of(const char* text) {
  std::istringstream names(text);
  return {std::istream_iterator<std::string>(names), {}};
}

// A program of types.cmake; this file includes the same structures.
class DwarfTypesTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<const elf::ElfFile> file_ =
      elf::ElfFile::open(std::string(RINGSIDE_DWARF_TYPES_FOLDER) + "/" + GetParam()).value();
  std::unique_ptr<DwarfTypes> types_ =
      DwarfTypes::from_elf(file_, std::make_shared<DebugFiles>(DebugFileOptions{}));

  [[nodiscard]] bool is_64() const { return file_->is_64(); }
  [[nodiscard]] std::uint64_t offset(std::string_view path) const {
    const auto member = types_->member("task_like", path);
    return member ? member->offset : ~std::uint64_t{0};
  }
};
INSTANTIATE_TEST_SUITE_P(Programs, DwarfTypesTest,
                         ::testing::ValuesIn(words_of(RINGSIDE_DWARF_TYPES)),
                         [](const auto& program) { return program.param; });

TEST_P(DwarfTypesTest, MembersAreWhereTheCompilerPutsThem) {
  ASSERT_TRUE(types_);
  EXPECT_EQ(offset("state"), offsetof(task_like, state));
  EXPECT_EQ(offset("comm"), offsetof(task_like, comm));
  if (!is_64()) {  // psABI: 4 bytes each, a double no more aligned than that
    EXPECT_EQ(offset("parent"), 20u);
    EXPECT_EQ(offset("nested.c.y"), 36u);
    EXPECT_EQ(offset("unnamed_inner"), 44u);
    return;
  }
  EXPECT_EQ(offset("parent"), offsetof(task_like, parent));
  EXPECT_EQ(offset("nested.sp"), offsetof(task_like, nested.sp));
  EXPECT_EQ(offset("nested.c.y"), offsetof(task_like, nested.c.y));
  EXPECT_EQ(offset("in_union"), offsetof(task_like, in_union));
  EXPECT_EQ(offset("unnamed_inner"), offsetof(task_like, unnamed_inner));
  EXPECT_EQ(offset("usage.counter"), offsetof(task_like, usage.counter));
  EXPECT_EQ(offset("many"), offsetof(task_like, many));
  EXPECT_EQ(offset("colour"), offsetof(task_like, colour));
}

TEST_P(DwarfTypesTest, SizesAndBitFields) {
  ASSERT_TRUE(types_);
  EXPECT_EQ(types_->size_of("counter_t"), sizeof(counter_t));
  EXPECT_EQ(types_->member("task_like", "comm")->size, 16u);
  EXPECT_EQ(types_->member("task_like", "parent")->size, is_64() ? 8u : 4u);
  EXPECT_EQ(types_->member("task_like", "callback")->size, is_64() ? 8u : 4u);
  EXPECT_FALSE(types_->member("task_like", "state")->is_bit_field);
  EXPECT_TRUE(types_->member("task_like", "narrow")->is_bit_field);
  EXPECT_TRUE(types_->member("task_like", "wide")->is_bit_field);
  if (!is_64()) return;
  EXPECT_EQ(types_->size_of("task_like"), sizeof(task_like));
  EXPECT_EQ(types_->member("task_like", "many")->size, sizeof(task_like::many));
}

// The typedef is in a unit that does not define what it stands for.
TEST_P(DwarfTypesTest, DefinitionsInOtherUnits) {
  ASSERT_TRUE(types_);
  EXPECT_EQ(types_->member("task_by_name", "comm"), types_->member("task_like", "comm"));
  EXPECT_EQ(types_->size_of("task_by_name"), types_->size_of("task_like"));
}

TEST_P(DwarfTypesTest, WhatIsNotThere) {
  ASSERT_TRUE(types_);
  EXPECT_FALSE(types_->size_of("no_such_struct"));
  EXPECT_FALSE(types_->size_of("only_declared"));
  EXPECT_FALSE(types_->member("only_declared", "member"));
  EXPECT_FALSE(types_->member("task_like", "no_such_member"));
  EXPECT_FALSE(types_->member("task_like", "parent.state"));  // through a pointer
  EXPECT_FALSE(types_->member("task_like", ""));
  EXPECT_FALSE(types_->member("task_like", "nested."));
}

TEST_P(DwarfTypesTest, Enumerators) {
  ASSERT_TRUE(types_);
  EXPECT_EQ(types_->enumerator("kRed"), 7);
  EXPECT_EQ(types_->enumerator("kGreen"), -3);
  EXPECT_EQ(types_->enumerator("kBlue"), 0x7fffffff);
  EXPECT_FALSE(types_->enumerator("kYellow"));
}

// This file includes the same types.
TEST(DwarfTables, PartsOfAVariable) {
  using Map = decltype(kernel::profiling::DBG_ID_MAP);
  const auto programs = words_of(RINGSIDE_DWARF_TABLES);
  ASSERT_FALSE(programs.empty());
  for (const std::string& program : programs) {
    SCOPED_TRACE(program);
    const auto types = DwarfTypes::from_elf(
        elf::ElfFile::open(std::string(RINGSIDE_DWARF_TYPES_FOLDER) + "/" + program).value());
    ASSERT_TRUE(types);
    const auto map = types->type_of_variable("kernel::profiling::DBG_ID_MAP");
    ASSERT_TRUE(map);
    EXPECT_EQ(types->size_of(*map), sizeof(Map));
    const auto table = types->part_of(*map, "RawTable<");
    ASSERT_TRUE(table);
    EXPECT_EQ(table->offset, offsetof(Map, data));
    const auto inner = types->part_of(table->type, "RawTableInner");
    ASSERT_TRUE(inner);
    EXPECT_EQ(inner->offset, offsetof(decltype(Map::data), table));
    EXPECT_EQ(types->member(inner->type, "ctrl")->offset, offsetof(RawTableInner, ctrl));
    const auto entry = types->type_parameter(table->type, "T");
    ASSERT_TRUE(entry);
    EXPECT_EQ(types->size_of(*entry), sizeof(Entry));
    EXPECT_EQ(types->member(*entry, "__1.len")->offset, offsetof(Entry, __1.len));
    EXPECT_EQ(types->member(*entry, "__1.xs")->size, 32u);
    EXPECT_EQ(types->size_of(*types->type_parameter(table->type, "A")), sizeof(Global));
    EXPECT_FALSE(types->type_parameter(table->type, "B"));
    EXPECT_FALSE(types->part_of(*map, "HashMap"));
    for (const char* other : {"DBG_ID_MAP", "kernel::DBG_ID_MAP", "kernel::profiling::DBG_ID",
                              "kernel::profiling::DBG_ID_MAP::x", "profiling::DBG_ID_MAP", ""})
      EXPECT_FALSE(types->type_of_variable(other)) << other;
    const auto number = types->type_of_variable("DBG_ID_MAP_OF_OTHERS");
    ASSERT_TRUE(number);
    EXPECT_EQ(types->size_of(*number), sizeof(long));
  }
}

// A unit with a struct S that has a hundred unnamed members of its own type, and one called y.
class DamagedTypes : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<DwarfTypes> types(int attributes_without_bytes,
                                                  int labels_in_front) {
    std::vector<std::byte> abbrevs;
    add(abbrevs, {1, DW_TAG_compile_unit, DW_CHILDREN_yes, 0, 0});
    add(abbrevs, {2, DW_TAG_structure_type, DW_CHILDREN_yes, DW_AT_name, DW_FORM_string, 0, 0});
    add(abbrevs, {3, DW_TAG_member, DW_CHILDREN_no, DW_AT_type, DW_FORM_ref4});
    for (int i = 0; i < attributes_without_bytes; ++i)
      add(abbrevs, {DW_AT_external, DW_FORM_flag_present});
    add(abbrevs, {0, 0, 4, DW_TAG_member, DW_CHILDREN_no, DW_AT_name, DW_FORM_string, 0, 0});
    add(abbrevs, {5, DW_TAG_label, DW_CHILDREN_no, 0, 0, 0});
    std::vector<std::byte> info;
    // Behind the length: version 4, abbreviations at 0, addresses of 8 bytes.
    add(info, {0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1});
    const auto start = static_cast<int>(info.size());
    add(info, {2, 'S', 0, 4, 'y', 0});
    for (int i = 0; i < labels_in_front; ++i) add(info, {5});
    for (int i = 0; i < 100; ++i) add(info, {3, start, 0, 0, 0});
    add(info, {0, 0});
    const auto length = static_cast<std::uint32_t>(info.size() - 4);
    std::memcpy(info.data(), &length, sizeof length);
    elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
    writer.add_section(".debug_info", SHT_PROGBITS, 0, {}, info);
    writer.add_section(".debug_abbrev", SHT_PROGBITS, 0, {}, abbrevs);
    return DwarfTypes::from_elf(elf::ElfFile::from_bytes(writer.write(), "S").value());
  }

 private:
  static void add(std::vector<std::byte>& to, std::initializer_list<int> bytes) {
    for (const int byte : bytes) to.push_back(static_cast<std::byte>(byte));
  }
};

// Without a bound both would take hours.
TEST_F(DamagedTypes, AStructInsideItselfEnds) {
  for (const auto& [attributes, labels] : {std::pair(0, 500'000), std::pair(500, 0)}) {
    const auto damaged = types(attributes, labels);
    ASSERT_TRUE(damaged);
    EXPECT_TRUE(damaged->member("S", "y"));
    EXPECT_FALSE(damaged->member("S", "x"));
    EXPECT_TRUE(damaged->member("S", "y"));  // each question may cost as much
  }
}

TEST_F(DamagedTypes, AnEntryHasEachAttributeOnce) {
  EXPECT_TRUE(types(500, 0)->member("S", "y"));
  EXPECT_FALSE(types(60'000, 0)->member("S", "y"));
}

}  // namespace
}  // namespace ringside::symbols
