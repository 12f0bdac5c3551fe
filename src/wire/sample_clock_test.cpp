#include "wire/sample_clock.h"

#include <gtest/gtest.h>

#include <set>

namespace ringside::wire {
namespace {

constexpr std::uint64_t kInterval = 1000;

TEST(SampleClock, EachIntervalHasOneTick) {
  SampleClock clock(5000, kInterval, true, 7);
  std::set<std::uint64_t> offsets;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    ASSERT_GE(clock.due_ns(), 5000 + k * kInterval);
    ASSERT_LT(clock.due_ns(), 5000 + (k + 1) * kInterval);
    offsets.insert(clock.due_ns() % kInterval);
    clock.advance(clock.due_ns() + 1);
  }
  EXPECT_EQ(clock.missed(), 0u);
  EXPECT_GT(offsets.size(), 500u);  // really displaced
}

TEST(SampleClock, ALateSampleDoesNotShiftTheNext) {
  SampleClock clock(0, kInterval, true, 7);
  clock.advance(1999);  // tick 0 taken at the end of interval 1: tick 1 can still be taken
  EXPECT_EQ(clock.missed(), 0u);
  EXPECT_LT(clock.due_ns(), 2000u);
  clock.advance(2001);
  EXPECT_GE(clock.due_ns(), 2000u);
}

TEST(SampleClock, WhatPassesIsMissed) {
  SampleClock clock(0, kInterval, true, 7);
  clock.pass(999);  // tick 0 can still be taken
  EXPECT_EQ(clock.missed(), 0u);
  clock.pass(10'500);  // ticks 0 to 9 not any more
  EXPECT_EQ(clock.missed(), 10u);
  EXPECT_GE(clock.due_ns(), 10'000u);
  EXPECT_LT(clock.due_ns(), 11'000u);
  clock.advance(10'999);
  EXPECT_EQ(clock.missed(), 10u);
}

TEST(SampleClock, NothingIsDueWhileTheGuestStandsStill) {
  SampleClock clock(0, kInterval, true, 7);
  SampleClock shifted(0, kInterval, true, 7);
  for (std::uint64_t k = 1; k < 100; ++k) {
    const std::uint64_t due = clock.due_ns();
    ASSERT_EQ(shifted.due_ns(), due + (k - 1) * 3 * kInterval);  // the guest ran as long
    clock.advance(due + 1);
    shifted.stand_still(3 * kInterval);
    shifted.advance(due + k * 3 * kInterval + 1);
  }
  EXPECT_EQ(shifted.missed(), 0u);
}

TEST(SampleClock, CountsWhatItJumpsOver) {
  SampleClock clock(0, kInterval, true, 7);
  clock.advance(10'500);  // ticks 1 to 9 can no longer be taken
  EXPECT_EQ(clock.missed(), 9u);
  EXPECT_GE(clock.due_ns(), 10'000u);
  EXPECT_LT(clock.due_ns(), 11'000u);
}

TEST(SampleClock, WithoutJitterItIsACadence) {
  SampleClock clock(0, kInterval, false, 7);
  for (std::uint64_t k = 1; k < 100; ++k) {
    ASSERT_EQ(clock.due_ns(), k * kInterval);
    clock.advance(clock.due_ns() + 10);
  }
  EXPECT_EQ(clock.missed(), 0u);
}

TEST(SampleClock, NothingIsDueWhileTheUserHasPausedTheGuest) {
  SampleClock clock(0, kInterval, true, 7);
  clock.skip_to(1'000'000);
  EXPECT_EQ(clock.missed(), 0u);
  EXPECT_GE(clock.due_ns(), 1'000'000u);
}

}  // namespace
}  // namespace ringside::wire
