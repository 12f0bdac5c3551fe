#include "importers/callgrind/splitter.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "importers/callgrind/call_graph.h"

namespace ringside::importers::callgrind {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers apportioned(std::int64_t amount, const Numbers& weights) {
  Numbers parts;
  apportion(amount, weights, parts);
  return parts;
}

TEST(ApportionTest, TheLargestRemaindersGetMore) {
  EXPECT_EQ(apportioned(10, {10, 20, 30}), (Numbers{2, 3, 5}));  // 1.67, 3.33, 5
  EXPECT_EQ(apportioned(3, {1, 1, 1, 1}), (Numbers{1, 1, 1, 0}));
  EXPECT_EQ(apportioned(0, {4, 5}), (Numbers{0, 0}));
  EXPECT_EQ(apportioned(5, {}), Numbers{});
}

TEST(ApportionTest, LargeNumbersAreExact) {
  EXPECT_EQ(apportioned(kMostCost, {kMostCost / 2, kMostCost / 2}),
            (Numbers{kMostCost / 2, kMostCost / 2}));
  EXPECT_EQ(apportioned(kMostCost - 1, {kMostCost, kMostCost, kMostCost}),
            (Numbers{kMostCost / 3, kMostCost / 3, kMostCost / 3}));
}

// Rows and columns that have the same sum, by event.
class SplitterTest : public ::testing::TestWithParam<unsigned> {
 protected:
  static constexpr std::size_t kEvents = 2;
  static constexpr std::size_t kRows = 7;
  static constexpr std::size_t kColumns = 5;
  SplitterTest() : random_(GetParam()) {
    for (std::size_t event = 0; event < kEvents; ++event)
      for (int unit = 0; unit < 400; ++unit) {
        ++rows_[random_() % kRows][event];
        ++columns_[random_() % kColumns][event];
      }
  }

  std::mt19937 random_;
  std::vector<Numbers> rows_ = std::vector<Numbers>(kRows, Numbers(kEvents));
  std::vector<Numbers> columns_ = std::vector<Numbers>(kColumns, Numbers(kEvents));
};

TEST_P(SplitterTest, PartsFillRowsAndColumns) {
  Splitter splitter(kEvents);
  for (int again = 0; again < 2; ++again) {
    splitter.start();
    for (const Numbers& column : columns_) splitter.add_column(column);
    std::vector<Numbers> filled(kColumns, Numbers(kEvents));
    for (std::size_t row = 0; row < kRows; ++row) {
      Numbers sum(kEvents);
      std::size_t last = 0;
      const auto parts = row % 2 == 0 ? splitter.split_in_proportion(rows_[row])
                                      : splitter.split_in_order(rows_[row]);
      for (const Splitter::Part& part : parts) {
        EXPECT_GT(part.amount, 0);
        EXPECT_GE(part.column, last);
        last = part.column;
        sum[part.event] += part.amount;
        filled[part.column][part.event] += part.amount;
      }
      EXPECT_EQ(sum, rows_[row]);
    }
    EXPECT_EQ(filled, columns_);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SplitterTest, ::testing::Range(0u, 20u));

}  // namespace
}  // namespace ringside::importers::callgrind
