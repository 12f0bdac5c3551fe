#include "importers/maestro_symbols.h"

#include <elf.h>
#include <gtest/gtest.h>

#include "elf/elf_writer.h"

namespace ringside::importers {
namespace {

constexpr unsigned char kFunction = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
constexpr unsigned char kObject = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
constexpr unsigned char kLabel = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE);

// Asks for names in a kernel with these symbols; "-" where there is none.
class Names {
 public:
  explicit Names(std::vector<elf::ElfWriter::Symbol> symbols, std::uint64_t load_bias = 0) {
    elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
    writer.add_segment({0xffffffff80000000}, 0x1000, true, false, {});
    writer.set_symbols(std::move(symbols));
    names_ = maestro_names(*elf::ElfFile::from_bytes(writer.write(), "kernel"), load_bias);
  }
  [[nodiscard]] std::string at(std::uint64_t offset) const {
    return names_({0xffffffff80000000 + offset}).value_or("-");
  }

 private:
  std::function<std::optional<std::string>(GuestVirt)> names_;
};

elf::ElfWriter::Symbol symbol(std::string_view name, std::uint64_t offset, std::uint64_t size,
                              std::uint8_t info = kFunction) {
  return {name, {0xffffffff80000000 + offset}, size, info};
}

TEST(MaestroNames, AreOfTheBytesThatASymbolHas) {
  const Names names({symbol("second", 0x20, 0x10), symbol("first", 0x10, 8)});
  EXPECT_EQ(names.at(0xf), "-");
  EXPECT_EQ(names.at(0x10), "first");
  EXPECT_EQ(names.at(0x17), "first");
  EXPECT_EQ(names.at(0x18), "-");
  EXPECT_EQ(names.at(0x20), "second");
  EXPECT_EQ(names.at(0x30), "-");
}

TEST(MaestroNames, DataHasNamesToo) {
  EXPECT_EQ(Names({symbol("table", 0x800, 8, kObject)}).at(0x804), "table");
}

TEST(MaestroNames, ALabelWithoutSizeHidesTheRestOfItsFunction) {
  const Names names({symbol("function", 0x10, 0x40), symbol("label", 0x20, 0, kLabel)});
  EXPECT_EQ(names.at(0x1f), "function");
  EXPECT_EQ(names.at(0x20), "-");
  EXPECT_EQ(names.at(0x4f), "-");
}

TEST(MaestroNames, WhatLiesInsideHidesTheRest) {
  const Names names({symbol("outer", 0x10, 0x40), symbol("inner", 0x20, 0x10)});
  EXPECT_EQ(names.at(0x1f), "outer");
  EXPECT_EQ(names.at(0x2f), "inner");
  EXPECT_EQ(names.at(0x30), "-");
}

TEST(MaestroNames, TheLargestOfOnePlaceIsTaken) {
  const Names names(
      {symbol("large", 0x10, 0x40), symbol("label", 0x10, 0, kLabel), symbol("small", 0x10, 8)});
  EXPECT_EQ(names.at(0x10), "large");
  EXPECT_EQ(names.at(0x4f), "large");
}

TEST(MaestroNames, TheKernelMayHaveMoved) {
  EXPECT_EQ(Names({symbol("f", 0x10, 8)}, 0x100).at(0x110), "f");
  EXPECT_EQ(Names({symbol("f", 0x10, 8)}, 0x100).at(0x10), "-");
}

// As rustc-demangle writes them with "{:#}".
TEST(MaestroNames, AreDemangledAsRusts) {
  const auto demangled = [](std::string_view raw) {
    return Names({symbol(raw, 0x10, 8)}).at(0x10);
  };
  EXPECT_EQ(demangled("_ZN6kernel4file3vfs4read17h0123456789abcdefE"), "kernel::file::vfs::read");
  EXPECT_EQ(demangled("_ZN66_$LT$kernel..process..Process$u20$as$u20$core..ops..drop..Drop$GT$4drop"
                      "17h0123456789abcdefE"),
            "<kernel::process::Process as core::ops::drop::Drop>::drop");
  EXPECT_EQ(demangled("_ZN6kernel4read17h0123456789abcdefE.llvm.1234567890"), "kernel::read");
  EXPECT_EQ(demangled("_ZN6kernel4read17h0123456789abcdefE.cold"), "kernel::read.cold");
  EXPECT_EQ(demangled("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(demangled("memcpy"), "memcpy");
  EXPECT_EQ(demangled("memcpy.llvm.123"), "memcpy");
  EXPECT_EQ(demangled("memcpy.llvm.12g"), "memcpy.llvm.12g");
  // C++ is left as it is, but for names that Rust could have given.
  EXPECT_EQ(demangled("_ZN8ringside12_GLOBAL__N_110the_shrunkE"),
            "ringside::_GLOBAL__N_1::the_shrunk");
  EXPECT_EQ(demangled("_ZN3foo3barEv"), "_ZN3foo3barEv");
}

}  // namespace
}  // namespace ringside::importers
