#include "recording/sample_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "recording/recording_test_util.h"

namespace ringside::recording {
namespace {

using testing::sampled;

TEST(DurationHistogram, QuantilesAreRightToOnePartIn64) {
  std::mt19937_64 random(3);
  DurationHistogram histogram;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t value = random() >> (random() % 64);
    values.push_back(value);
    histogram.add(value);
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 1.0}) {
    const auto index = static_cast<std::size_t>(std::max(1.0, std::ceil(q * 10'000)) - 1);
    const auto exact = static_cast<double>(values[index]);
    const auto found = static_cast<double>(histogram.quantile(q));
    EXPECT_GE(found, exact);
    EXPECT_LE(found, exact * (1 + 1.0 / 64));
  }
  EXPECT_EQ(DurationHistogram().quantile(0.99), 0u);
}

TEST(SampleStatistics, TheVcpusOfAStopShareItsPause) {
  SampleStatistics statistics;
  for (std::uint64_t stop = 0; stop < 5; ++stop)
    for (std::uint16_t vcpu = 0; vcpu < 4; ++vcpu) {
      Sample sample;
      sample.info = sampled(1000 * stop, vcpu);
      sample.info.pause_ns = 60;
      statistics.add(sample);
    }
  EXPECT_EQ(statistics.pause.count(), 5u);
  EXPECT_EQ(statistics.pause.sum(), 300u);
  EXPECT_EQ(statistics.count[0], 20u);
  EXPECT_EQ(statistics.first_ns, 0u);
  EXPECT_EQ(statistics.last_ns, 4000u);
}

TEST(SampleStatistics, ReasonsOfSampledOnly) {
  SampleStatistics statistics;
  Sample sample;
  sample.info = sampled(1);
  sample.stacks = {{1, StopReason::kTruncated, {}}, {2, StopReason::kEndOfStack, {}}};
  statistics.add(sample);
  sample.stacks = {{1, StopReason::kUserMode, {}}, {2, StopReason::kEndOfStack, {}}};
  statistics.add(sample);
  sample.info.disposition = wire::Disposition::kSkipped;
  sample.info.weight = 7;
  statistics.add(sample);
  EXPECT_EQ(statistics.stops[static_cast<std::size_t>(StopReason::kTruncated)], 1u);
  EXPECT_EQ(statistics.stops[static_cast<std::size_t>(StopReason::kEndOfStack)], 1u);
  EXPECT_EQ(statistics.stops[static_cast<std::size_t>(StopReason::kUserMode)], 0u);
  EXPECT_EQ(statistics.total_weight(), 9u);
}

}  // namespace
}  // namespace ringside::recording
