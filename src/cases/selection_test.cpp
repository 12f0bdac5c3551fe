#include "cases/selection.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringside::cases {
namespace {

const std::vector<Candidate> kCandidates = {
    {0, {"memcpy", "vfs_write"}, StopReason::kUserMode},
    {1, {"asm_exc_page_fault"}, StopReason::kTruncated},
    {2, {"vfs_write"}, StopReason::kEndOfStack},
    {3, {}, StopReason::kNoRegisters},
};

using Numbers = std::vector<std::size_t>;

Numbers chosen(const Selection& selection) {
  const auto result = choose(selection, kCandidates);
  EXPECT_TRUE(result);
  return result.value_or(Numbers{99});
}

TEST(Selection, ConditionsHoldTogether) {
  EXPECT_EQ(chosen({}), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(chosen({.numbers = {2, 0, 7}}), (Numbers{0, 2}));
  EXPECT_EQ(chosen({.where = {"frame=vfs_write"}}), (Numbers{0, 2}));
  EXPECT_EQ(chosen({.where = {"leaf=vfs_*"}}), (Numbers{2}));
  EXPECT_EQ(chosen({.where = {"frame=vfs_*", "leaf=mem*"}}), (Numbers{0}));
  EXPECT_EQ(chosen({.where = {"stop=truncated"}}), (Numbers{1}));
  EXPECT_EQ(chosen({.incomplete = true}), (Numbers{1, 3}));
  EXPECT_EQ(choose({.where = {"root=x"}}, kCandidates).error().code, ErrorCode::kUsage);
}

TEST(Selection, TheSameSeedChoosesTheSame) {
  std::vector<Candidate> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i].number = i;
  const auto choice = [&](std::uint64_t seed) {
    return *choose({.random = 10, .seed = seed}, many);
  };
  EXPECT_EQ(choice(1).size(), 10u);
  EXPECT_EQ(choice(1), choice(1));
  EXPECT_NE(choice(1), choice(2));
  const Numbers numbers = choice(3);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

}  // namespace
}  // namespace ringside::cases
