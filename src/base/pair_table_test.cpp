#include "base/pair_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace ringside {
namespace {

TEST(PairTable, IdsInOrderOfFirstSight) {
  PairTable table;
  EXPECT_EQ(table.intern(7, 8), 0u);
  EXPECT_EQ(table.intern(8, 7), 1u);
  EXPECT_EQ(table.intern(7, 8), 0u);
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.first(1), 8u);
  EXPECT_EQ(table.second(1), 7u);
}

TEST(PairTable, AgreesWithAMap) {
  PairTable table;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> expected;
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    // Numbers with equal low halves and with equal high halves, and the largest ones.
    const auto first = static_cast<std::uint32_t>((random() % 200) << 16);
    const auto second = static_cast<std::uint32_t>(0xffffffff - random() % 200);
    const auto [it, added] =
        expected.try_emplace({first, second}, static_cast<std::uint32_t>(expected.size()));
    ASSERT_EQ(table.intern(first, second), it->second);
  }
  ASSERT_EQ(table.size(), expected.size());
  for (const auto& [pair, id] : expected) {
    EXPECT_EQ(table.first(id), pair.first);
    EXPECT_EQ(table.second(id), pair.second);
  }
}

}  // namespace
}  // namespace ringside
