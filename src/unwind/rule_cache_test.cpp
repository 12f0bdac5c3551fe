#include "unwind/rule_cache.h"

#include <gtest/gtest.h>

namespace ringside::unwind {
namespace {

CompactRule rule(std::int32_t offset) {
  return {.cfa_offset = offset, .kind = CompactRule::Kind::kCall};
}

TEST(RuleCache, KnowsWhatWasAdded) {
  RuleCache cache;
  EXPECT_EQ(cache.find(0), nullptr);
  EXPECT_EQ(cache.add(7, rule(8)), rule(8));
  ASSERT_NE(cache.find(7), nullptr);
  EXPECT_EQ(*cache.find(7), rule(8));
  EXPECT_EQ(cache.find(0), nullptr);
  EXPECT_EQ(cache.find(8), nullptr);
  cache.add(0, rule(16));
  EXPECT_EQ(*cache.find(0), rule(16));
  cache.forget();
  EXPECT_EQ(cache.find(7), nullptr);
}

// More keys than slots: many are forgotten, and none gets another one's rule.
TEST(RuleCache, NeverConfusesKeys) {
  RuleCache cache;
  constexpr std::uint64_t kKeys = 100'000;
  const auto key_of = [](std::uint64_t i) { return (0xffffffff81000000 + i * 5) << 1 | (i & 1); };
  for (std::uint64_t i = 0; i < kKeys; ++i)
    cache.add(key_of(i), rule(static_cast<std::int32_t>(i % 5000)));
  std::uint64_t known = 0;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const CompactRule* found = cache.find(key_of(i));
    if (found == nullptr) continue;
    ++known;
    ASSERT_EQ(found->cfa_offset, static_cast<std::int32_t>(i % 5000));
  }
  EXPECT_GT(known, 8'000u);
}

TEST(RuleCache, StartsAgainWhenThereAreTooManyRules) {
  RuleCache cache;
  for (std::int32_t i = 0; i < 20'000; ++i) {
    cache.add(static_cast<std::uint64_t>(i), rule(i));
    ASSERT_NE(cache.find(static_cast<std::uint64_t>(i)), nullptr);
    ASSERT_EQ(cache.find(static_cast<std::uint64_t>(i))->cfa_offset, i);
  }
  EXPECT_EQ(cache.find(0), nullptr);
}

}  // namespace
}  // namespace ringside::unwind
