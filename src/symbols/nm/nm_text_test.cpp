#include "symbols/nm/nm_text.h"

#include <gtest/gtest.h>

#include "symbols/symbol_table.h"

namespace ringside::symbols {
namespace {

constexpr const char* kMap =
    "0000000000000000 A fixed_percpu_data\n"
    "000000000001fb48 A hardirq_stack_ptr\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000000 T startup_64\n"
    "ffffffff81000040 t local_alias\n"
    "ffffffff81000040 W weak_alias\n"
    "ffffffff81000040 T the_function\n"
    "ffffffff81000100 t last_function\n"
    "ffffffff81000123 T _etext\n"
    "ffffffff82000000 R __start_rodata\n"
    "ffffffff82000020 D linux_banner\n"
    "ffffffff83000000 T _sinittext\n"
    "ffffffff83000000 t early_setup\n"
    "ffffffff83000010 T _einittext\n"
    "ffffffff83000010 d after\n";

std::string_view name_at(const SymbolTable& table, std::uint64_t address) {
  const auto symbol = table.find({address});
  return symbol ? symbol->raw : "nothing";
}

TEST(NmText, SystemMap) {
  auto list = parse_nm_text(kMap, "System.map");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->symbols.size(), 16u);
  EXPECT_EQ(list->address_of("linux_banner")->value, 0xffffffff82000020);
  EXPECT_EQ(list->address_of("hardirq_stack_ptr")->value, 0x1fb48u);
  const SymbolTable table = SymbolTable::from_list(std::move(*list));
  // The name for an address is the function's own, not a section's border; global before weak.
  EXPECT_EQ(name_at(table, 0xffffffff81000000), "startup_64");
  EXPECT_EQ(name_at(table, 0xffffffff8100003f), "startup_64");
  EXPECT_EQ(name_at(table, 0xffffffff81000040), "the_function");
  EXPECT_EQ(table.find({0xffffffff81000040})->size, 0xc0u);
  // The text ends at _etext.
  EXPECT_EQ(name_at(table, 0xffffffff81000122), "last_function");
  EXPECT_EQ(name_at(table, 0xffffffff81000123), "nothing");
  EXPECT_EQ(name_at(table, 0xffffffff82000020), "nothing");
  EXPECT_EQ(name_at(table, 0xffffffff8300000f), "early_setup");
  EXPECT_EQ(name_at(table, 0xffffffff83000010), "nothing");
  EXPECT_EQ(name_at(table, 0x10), "nothing");
}

TEST(NmText, ProcKallsymsHasModules) {
  auto list = parse_nm_text(
      "ffffffffc0000000 t cleanup_module\t[virtio_blk]\n"
      "ffffffffc0000100 t virtblk_probe\t[virtio_blk]\n"
      "ffffffffc0004000 t ext4_init\t[ext4]\n"
      "ffffffff81000000 T linux_banner\n"
      "ffffffffc0009000 T linux_banner\t[odd]\n",
      "/proc/kallsyms");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->symbols.front().name, "linux_banner");
  EXPECT_EQ(list->symbols[1].module, "virtio_blk");
  EXPECT_EQ(list->address_of("linux_banner")->value, 0xffffffff81000000);
  EXPECT_FALSE(list->address_of("ext4_init"));
  const SymbolTable table = SymbolTable::from_list(std::move(*list));
  EXPECT_EQ(name_at(table, 0xffffffffc0000080), "cleanup_module");
  EXPECT_EQ(name_at(table, 0xffffffffc0004001), "ext4_init");
  // Nobody says where the last of all ends.
  EXPECT_EQ(name_at(table, 0xffffffffc0009010), "linux_banner");
  EXPECT_EQ(name_at(table, 0xffffffffd0000000), "nothing");
}

TEST(NmText, FormsOfNm) {
  const auto list = parse_nm_text(
      "                 U printf\n"
      "                 w __gmon_start__\r\n"
      "\n"
      "0000000000001139 0000000000000016 T main\n"
      "0000000000001150 T t\n"
      "00001160 t b\n",
      "nm");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->symbols.size(), 3u);
  EXPECT_EQ(list->symbols[0].name, "main");
  EXPECT_EQ(list->symbols[0].type, 'T');
  EXPECT_EQ(list->symbols[1].name, "t");
  EXPECT_EQ(list->symbols[2].address.value, 0x1160u);
}

// As `nm -CS` writes the names of a Rust kernel.
TEST(NmText, NamesMayHaveBlanks) {
  const auto list = parse_nm_text(
      "ffffffff80000000 0000000000000123 t <kernel::Vec<u8> as core::fmt::Debug>::fmt\n"
      "ffffffff80000200 T memcpy\n"
      "ffffffff80000300 0000000000000010 t kernel::run::{closure#0} [clone .cold]\r\n"
      "ffffffff80000400 0000000000000020 T operator new[](unsigned long)  \n"
      "                 U foo(int, char)\n"
      "ffffffff80000500 0000000000000008 W t\n"
      "ffffffff80000600 0000000000000030 T main\t/src/main.c:12\n",
      "nm");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->symbols.size(), 6u);
  EXPECT_EQ(list->symbols[0].name, "<kernel::Vec<u8> as core::fmt::Debug>::fmt");
  EXPECT_EQ(list->symbols[0].size, 0x123u);
  EXPECT_EQ(list->symbols[1].name, "memcpy");
  EXPECT_EQ(list->symbols[1].size, 0u);
  EXPECT_EQ(list->symbols[2].name, "kernel::run::{closure#0} [clone .cold]");
  EXPECT_EQ(list->symbols[3].name, "operator new[](unsigned long)");
  EXPECT_EQ(list->symbols[4].name, "t");
  EXPECT_EQ(list->symbols[4].type, 'W');
  EXPECT_EQ(list->symbols[5].name, "main");
  for (const ListedSymbol& symbol : list->symbols) EXPECT_EQ(symbol.module, "");
}

// A module behind a blank is one where nothing else is behind it: texts lose their tabs.
TEST(NmText, ModulesMayStandBehindABlank) {
  const auto list = parse_nm_text("ffffffffc0000000 t ext4_init [ext4]\n", "kallsyms");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->symbols[0].name, "ext4_init");
  EXPECT_EQ(list->symbols[0].module, "ext4");
}

TEST(NmText, SizesEndFunctions) {
  auto list = parse_nm_text(
      "ffffffff80000000 0000000000000040 t outer\n"
      "ffffffff80000010 t label_in_it\n"
      "ffffffff80000050 t without_size\n"
      "ffffffff80000050 0000000000000004 t with_size\n"
      "ffffffff80000060 T last_but_one\n"
      "ffffffff80000100 0000000000000010 T last\n",
      "nm");
  ASSERT_TRUE(list);
  const SymbolTable table = SymbolTable::from_list(std::move(*list));
  EXPECT_EQ(name_at(table, 0xffffffff8000003f), "outer");
  EXPECT_EQ(name_at(table, 0xffffffff80000040), "nothing");
  EXPECT_EQ(name_at(table, 0xffffffff80000050), "with_size");
  EXPECT_EQ(name_at(table, 0xffffffff80000054), "nothing");
  EXPECT_EQ(name_at(table, 0xffffffff800000ff), "last_but_one");
  EXPECT_EQ(name_at(table, 0xffffffff8000010f), "last");
  EXPECT_EQ(name_at(table, 0xffffffff80000110), "nothing");
}

TEST(NmText, SaysWhatIsWrong) {
  const auto message = [](const char* text) {
    return parse_nm_text(text, "System.map").error().message;
  };
  EXPECT_EQ(message(""), "System.map has no symbols");
  EXPECT_EQ(message("ffffffff81000000 T _text\nhello, world\n"),
            "System.map: line 2 is not \"address type name\"");
  EXPECT_EQ(message("fffffffffffffffff T too_long\n"),
            "System.map: line 1 is not \"address type name\"");
  EXPECT_NE(message("0000000000000000 T _text\n0000000000000000 t b\n").find("kptr_restrict"),
            std::string::npos);
}

}  // namespace
}  // namespace ringside::symbols
