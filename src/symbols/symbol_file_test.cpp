#include "symbols/symbol_file.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringside::symbols {
namespace {

TEST(SymbolFile, KeepsFunctionsSegmentsAndBuildId) {
  const auto whole = elf::ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(whole);
  const auto packed = pack_symbols(**whole);
  ASSERT_FALSE(packed.empty());
  EXPECT_LT(packed.size(), (*whole)->file_bytes().size() / 4);
  const auto read = elf::ElfFile::from_bytes(packed, "packed");
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
  const auto& before = (*whole)->symbols();
  const auto& after = (*read)->symbols();
  ASSERT_GT(before.size(), 100u);
  const auto same = [](const elf::FunctionSymbol& a, const elf::FunctionSymbol& b) {
    return a.address == b.address && a.size == b.size && a.name == b.name &&
           a.binding == b.binding && a.is_function == b.is_function;
  };
  EXPECT_TRUE(std::is_permutation(before.begin(), before.end(), after.begin(), after.end(), same));
}

}  // namespace
}  // namespace ringside::symbols
