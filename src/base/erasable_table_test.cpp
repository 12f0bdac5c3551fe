#include "base/erasable_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace ringside {
namespace {

std::map<std::uint64_t, int> contents(const ErasableTable<int>& table) {
  std::map<std::uint64_t, int> values;
  table.for_each([&](std::uint64_t key, int value) { values.emplace(key, value); });
  return values;
}

TEST(ErasableTable, IsEmptyAtFirst) {
  ErasableTable<int> table;
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_FALSE(table.erase(0));
  EXPECT_EQ(table.size(), 0u);
}

// Few keys, so that values stand in each other's way when some go.
TEST(ErasableTable, HoldsWhatAMapHolds) {
  std::mt19937_64 random(1);
  for (const std::uint64_t keys : {5u, 40u, 3000u}) {
    ErasableTable<int> table;
    std::map<std::uint64_t, int> wanted;
    for (int step = 0; step < 20000; ++step) {
      const std::uint64_t key = random() % keys * 0x1000;
      if (random() % 2 == 0) {
        table.set(key, step);
        wanted[key] = step;
      } else {
        EXPECT_EQ(table.erase(key), wanted.erase(key) == 1);
      }
      const std::uint64_t other = random() % keys * 0x1000;
      const int* const found = table.find(other);
      ASSERT_EQ(found != nullptr, wanted.count(other) == 1);
      ASSERT_TRUE(found == nullptr || *found == wanted[other]);
      ASSERT_EQ(table.size(), wanted.size());
    }
    EXPECT_EQ(contents(table), wanted);
  }
}

}  // namespace
}  // namespace ringside
