#include "views/summary.h"

#include <gtest/gtest.h>

#include "profile/profile_test_util.h"
#include "recording/counters.h"

namespace ringside::views {
namespace {

using profile::testing::TestRecording;

TEST(Summary, TotalsAddUpToWhatWasDue) {
  TestRecording recording;
  recording.add({"a", 10}).add({"", 2});
  recording.add(wire::Disposition::kIdle, 5).add(wire::Disposition::kSkipped, 3);
  recording.add(wire::Disposition::kFailed, 1);
  recording::Statistics statistics;
  statistics.due = 25;
  statistics.lost = 4;
  statistics.late = 2;
  statistics.counters = {{recording::kLostByHost, 3}};
  statistics.duration_ns = 1'000'000'000;
  statistics.symbol_ns = 7;
  statistics.counters[recording::kMemoryReadPausesCounter] = 300'000'000;
  ASSERT_TRUE(recording.writer().add_statistics(statistics));
  const Summary summary = make_summary(recording.profile());
  EXPECT_EQ(summary.sampled + summary.idle + summary.skipped + summary.failed + *summary.lost,
            *summary.due);
  EXPECT_EQ(summary.late, 2u);
  using Reason = std::pair<std::string, std::uint64_t>;
  EXPECT_EQ(summary.lost_by_reason,
            (std::vector{Reason("vCPU not run by the host", 3), Reason("reason not recorded", 1)}));
  EXPECT_EQ(summary.unwound, 12u);
  EXPECT_EQ(summary.complete, 10u);
  EXPECT_EQ(summary.stops_by_reason[static_cast<std::size_t>(StopReason::kNoRegisters)], 2u);
  EXPECT_EQ(summary.stops, 21u);
  EXPECT_EQ(summary.pause_total_ns, summary.pause_average_ns * 21 + summary.pause_total_ns % 21);
  EXPECT_EQ(summary.stood_still_ns, summary.pause_total_ns + 300'000'000);
  EXPECT_DOUBLE_EQ(summary.paused_share, static_cast<double>(summary.stood_still_ns) / 1e9);
  EXPECT_GE(summary.pause_p99_ns, 109'000u);
  EXPECT_EQ(summary.symbol_ns, 7u);
}

// Stops whose samples were left out count, too, where the recording has them.
TEST(Summary, TheGuestStoodStillForAllStops) {
  TestRecording recording;
  recording.add({"a", 10});
  recording::Statistics statistics;
  statistics.due = 10;
  statistics.duration_ns = 1'000'000'000;
  statistics.counters = {{recording::kMemoryReadPausesCounter, 300'000'000},
                         {recording::kStoodStillCounter, 750'000'000}};
  ASSERT_TRUE(recording.writer().add_statistics(statistics));
  const Summary summary = make_summary(recording.profile());
  EXPECT_EQ(summary.stood_still_ns, 750'000'000u);
  EXPECT_DOUBLE_EQ(summary.paused_share, 0.75);
}

TEST(Summary, PartsAddUp) {
  TestRecording recording;
  recording.add({"a", 10}).add({"", 2}).add({"user:f", 5}).add({"user:f || a", 7});
  recording.add({"user:f || ", 1}).add({"[firmware]", 3});
  const Summary summary = make_summary(recording.profile());
  EXPECT_EQ(summary.kernel.total(), 20u);
  EXPECT_EQ(summary.kernel.complete(), 17u);
  EXPECT_EQ(summary.kernel.stops[static_cast<std::size_t>(StopReason::kNoRegisters)], 3u);
  EXPECT_EQ(summary.user.total(), 13u);
  EXPECT_EQ(summary.user.complete(), 13u);
  EXPECT_EQ(summary.both, 8u);
  EXPECT_EQ(summary.firmware, 3u);
  EXPECT_EQ(summary.unwound,
            summary.kernel.total() + summary.user.total() - summary.both + summary.firmware);
}

TEST(Summary, ARecordingWithoutStatisticsStillHasMost) {
  TestRecording recording;
  recording.add({"a", 11});
  const Summary summary = make_summary(recording.profile());
  EXPECT_FALSE(summary.due);
  EXPECT_FALSE(summary.lost);
  EXPECT_EQ(summary.sampled, 11u);
  EXPECT_EQ(summary.duration_ns, 100'000'000u);
}

TEST(Summary, Empty) {
  TestRecording recording;
  const Summary summary = make_summary(recording.profile());
  EXPECT_EQ(summary.stops, 0u);
  EXPECT_EQ(summary.pause_average_ns, 0u);
  EXPECT_EQ(summary.paused_share, 0);
}

}  // namespace
}  // namespace ringside::views
