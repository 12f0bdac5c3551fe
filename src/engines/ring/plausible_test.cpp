#include "engines/ring/plausible.h"

#include <gtest/gtest.h>

namespace ringside::engines::ring {
namespace {

constexpr std::uint64_t kAtOnce = 1 << 20;
constexpr std::uint64_t kPollNs = 5'000'000;
constexpr std::uint64_t kPace = kPollNs / 50;  // records of a poll
constexpr std::uint64_t kStart = 1'000'000'000'000;

TEST(PlausibleGrowth, GrowsAtOnceOnlyOnce) {
  PlausibleGrowth growth(kStart);
  EXPECT_TRUE(growth.allows(kAtOnce, kStart));
  for (std::uint64_t poll = 1; poll <= 200; ++poll)
    EXPECT_FALSE(growth.allows(kAtOnce, kStart + poll * kPollNs)) << poll;
}

TEST(PlausibleGrowth, KeepsThePace) {
  PlausibleGrowth growth(kStart);
  EXPECT_TRUE(growth.allows(kAtOnce, kStart));
  for (std::uint64_t poll = 1; poll <= 200; ++poll)
    EXPECT_TRUE(growth.allows(kPace, kStart + poll * kPollNs)) << poll;
  EXPECT_FALSE(growth.allows(kPace + 1, kStart + 201 * kPollNs));
}

TEST(PlausibleGrowth, MayGrowAtOnceAgainWhenItHasBeenSlow) {
  PlausibleGrowth growth(kStart);
  EXPECT_TRUE(growth.allows(kAtOnce / 2, kStart));
  EXPECT_TRUE(growth.allows(kAtOnce / 2, kStart));
  EXPECT_FALSE(growth.allows(1, kStart));
  EXPECT_TRUE(growth.allows(0, kStart + kAtOnce * 50));
  EXPECT_TRUE(growth.allows(kAtOnce, kStart + kAtOnce * 50));
  EXPECT_FALSE(growth.allows(1, kStart + kAtOnce * 50));
  // Not more, however long it was slow.
  constexpr std::uint64_t kLater = kStart + 3600 * kStart;
  EXPECT_TRUE(growth.allows(0, kLater));
  EXPECT_FALSE(growth.allows(kAtOnce + 1, kLater));
}

TEST(PlausibleGrowth, HasGrownSinceTheGuestsStart) {
  constexpr std::uint64_t kBefore = 10'000'000'000;
  EXPECT_TRUE(PlausibleGrowth(kStart - kBefore).allows(kBefore / 50 + kAtOnce, kStart));
  EXPECT_FALSE(PlausibleGrowth(kStart - kBefore).allows(kBefore / 50 + kAtOnce + 1, kStart));
}

TEST(PlausibleGrowth, TheLargestNumberIsNone) {
  PlausibleGrowth growth(kStart);
  EXPECT_FALSE(growth.allows(~std::uint64_t{0}, kStart + kPollNs));
  EXPECT_TRUE(growth.allows(kPace, kStart + 2 * kPollNs));
}

}  // namespace
}  // namespace ringside::engines::ring
