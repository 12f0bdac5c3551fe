#include "symbols/symbol_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernel_image/open_elf.h"

namespace ringside::symbols {
namespace {

TEST(SymbolFile, KeepsFunctionsSegmentsAndBuildId) {
  const auto whole = elf::ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(whole);
  const auto packed = pack_symbols(**whole);
  ASSERT_FALSE(packed.empty());
  EXPECT_LT(packed.size(), (*whole)->file_bytes().size() / 4);
  const auto read = kernel_image::elf_from_bytes(packed, "packed");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE((*read)->is_on_disk());
  EXPECT_EQ((*read)->arch(), (*whole)->arch());
  EXPECT_EQ((*read)->build_id_hex(), (*whole)->build_id_hex());
  ASSERT_EQ((*read)->segments().size(), (*whole)->segments().size());
  for (std::size_t i = 0; i < (*read)->segments().size(); ++i) {
    EXPECT_EQ((*read)->segments()[i].address, (*whole)->segments()[i].address);
    EXPECT_EQ((*read)->segments()[i].memory_size, (*whole)->segments()[i].memory_size);
    EXPECT_EQ((*read)->segments()[i].file_size, 0u);
  }
  const auto sorted = [](const elf::ElfFile& file) {
    std::vector<std::tuple<std::uint64_t, std::uint64_t, std::string_view, int, bool>> symbols;
    for (const elf::FunctionSymbol& symbol : file.symbols())
      symbols.emplace_back(symbol.address.value, symbol.size, symbol.name,
                           static_cast<int>(symbol.binding), symbol.is_function);
    std::sort(symbols.begin(), symbols.end());
    return symbols;
  };
  const auto before = sorted(**whole);
  ASSERT_GT(before.size(), 100u);
  EXPECT_TRUE(before == sorted(**read));  // thousands are not to be printed
}

}  // namespace
}  // namespace ringside::symbols
