#include "engines/ring/ring_clock.h"

#include <gtest/gtest.h>

namespace ringside::engines::ring {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

TEST(RingClock, PlacesACounterByTheShortestDelay) {
  RingClock clock(1e6);               // a tick is a microsecond
  clock.look(10'000, 500 * kMs);      // 5 ms late
  clock.look(20'000, 505 * kMs + 1);  // … and then hardly
  EXPECT_EQ(clock.host_ns(20'000), 505 * kMs + 1);
  EXPECT_EQ(clock.host_ns(15'000), 500 * kMs + 1);
  clock.look(30'000, 519 * kMs);
  EXPECT_EQ(clock.host_ns(30'000), 515 * kMs + 1);
  EXPECT_DOUBLE_EQ(clock.hz(), 1e6);
}

TEST(RingClock, NoTimeIsLaterThanTheLookThatItCameWith) {
  RingClock clock(1e6);
  clock.look(10'000, 500 * kMs);
  EXPECT_EQ(clock.host_ns(99'000), 500 * kMs);
}

TEST(RingClock, FollowsAClockThatHasStoodStill) {
  RingClock clock(1e6);
  clock.look(10'000, 500 * kMs);
  clock.look(20'000, 5'000 * kMs);
  EXPECT_EQ(clock.host_ns(20'000), 5'000 * kMs);
  EXPECT_EQ(clock.host_ns(19'000), 4'999 * kMs);
}

TEST(RingClock, MeasuresARateThatNobodyKnows) {
  RingClock clock(0);
  clock.look(1'000'000, 100 * kMs);
  EXPECT_EQ(clock.host_ns(1'000'000), 100 * kMs);
  for (std::uint64_t ms = 105; ms <= 2'100; ms += 5)
    clock.look(1'000'000 + (ms - 100) * 2'000, ms * kMs);
  EXPECT_NEAR(clock.hz(), 2e6, 1e3);
  EXPECT_NEAR(static_cast<double>(clock.host_ns(1'000'000 + 2'000 * 1'000)), 1'100e6, 1e6);
}

TEST(RingClock, SurvivesAnyCounter) {
  RingClock clock(1e9);
  clock.look(~std::uint64_t{0}, 5 * kMs);
  EXPECT_LE(clock.host_ns(0), 5 * kMs);
  clock.look(3, 6 * kMs);
  EXPECT_LE(clock.host_ns(~std::uint64_t{0}), 6 * kMs);
}

}  // namespace
}  // namespace ringside::engines::ring
