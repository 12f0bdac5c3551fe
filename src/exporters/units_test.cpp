#include "exporters/units.h"

#include <gtest/gtest.h>

namespace ringside::exporters {
namespace {

TEST(Units, Durations) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(999), "999 ns");
  EXPECT_EQ(format_duration(1000), "1.00 us");
  EXPECT_EQ(format_duration(81'200), "81.2 us");
  EXPECT_EQ(format_duration(999'400), "999 us");
  EXPECT_EQ(format_duration(999'600), "1.00 ms");
  EXPECT_EQ(format_duration(10'000'000), "10.0 ms");
  EXPECT_EQ(format_duration(200'000'000'000), "200 s");
  EXPECT_EQ(format_duration(20'000'000'000'000), "20000 s");
}

TEST(Units, CountsSharesAndTimes) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'000), "1,000");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_percent(1, 3), "33.33");
  EXPECT_EQ(format_percent(0, 0), "0.00");
  EXPECT_EQ(format_time(1'700'000'000'000'000'000), "2023-11-14 22:13:20 UTC");
  EXPECT_EQ(format_date(1'700'000'000'000'000'000), "2023-11-14");
}

TEST(Units, OneTick) {
  EXPECT_EQ(unit_of(0, recording::WeightUnit::kTicks), "ticks");
  EXPECT_EQ(unit_of(1, recording::WeightUnit::kTicks), "tick");
  EXPECT_EQ(unit_of(1, recording::WeightUnit::kNanoseconds), "ns");
  EXPECT_EQ(unit_of(2, recording::WeightUnit::kTicks), "ticks");
}

}  // namespace
}  // namespace ringside::exporters
