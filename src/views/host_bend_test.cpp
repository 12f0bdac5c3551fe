#include "views/host_bend.h"

#include <gtest/gtest.h>

#include "profile/profile_test_util.h"
#include "recording/counters.h"

namespace ringside::views {
namespace {

using profile::testing::TestRecording;
using Reason = HostBend::Reason;

struct Ticks {
  std::uint64_t sampled = 0;
  std::uint64_t idle = 0;
  std::uint64_t lost = 0;
};

// The guest has two vCPUs.
HostBend bend_of(const char* engine, const Ticks& ticks, std::uint64_t processors,
                 const char* reason = recording::kLostByHost) {
  TestRecording recording;
  recording.add({"a", ticks.sampled});
  recording.add(wire::Disposition::kIdle, ticks.idle);
  recording::Statistics statistics;
  statistics.due = ticks.sampled + ticks.idle + ticks.lost;
  statistics.lost = ticks.lost;
  statistics.counters = {{reason, ticks.lost}, {recording::kProcessorsCounter, processors}};
  EXPECT_TRUE(recording.writer().add_statistics(statistics));
  profile::Profile profile = recording.profile();
  profile.header.engine = engine;
  return host_bend(profile);
}

TEST(HostBend, AnIdleHostBendsNothing) {
  for (const char* const engine : {"gdb", "qmp", "tcg"})
    EXPECT_EQ(bend_of(engine, {.sampled = 98, .lost = 2}, 4).reason, Reason::kNone);
}

// Idle ticks hide how many of the others were lost.
TEST(HostBend, AStopOfAVcpuThatWaitsShowsAnInterruptsEntry) {
  const HostBend bend = bend_of("gdb", {.sampled = 90, .idle = 800, .lost = 10}, 4);
  EXPECT_EQ(bend.reason, Reason::kNotRun);
  EXPECT_DOUBLE_EQ(bend.not_run, 0.1);
}

TEST(HostBend, ThePluginLosesTicksByTheTimeThatPasses) {
  EXPECT_EQ(bend_of("tcg", {.sampled = 60, .lost = 40}, 2).reason, Reason::kNone);
  EXPECT_EQ(bend_of("tcg", {.sampled = 40, .lost = 60}, 2).reason, Reason::kNotRun);
  EXPECT_EQ(bend_of("tcg", {.sampled = 40, .lost = 60}, 2, recording::kLostToVcpu).reason,
            Reason::kNotRun);
}

TEST(HostBend, AStopNeedsAProcessor) {
  const HostBend bend = bend_of("gdb", {.sampled = 100}, 2);
  EXPECT_EQ(bend.reason, Reason::kCrowded);
  EXPECT_DOUBLE_EQ(bend.busy_vcpus, 2);
  EXPECT_EQ(bend_of("gdb", {.sampled = 100, .idle = 100}, 2).reason, Reason::kNone);
  EXPECT_EQ(bend_of("gdb", {.sampled = 100}, 3).reason, Reason::kNone);
  EXPECT_EQ(bend_of("gdb", {.sampled = 100}, 0).reason, Reason::kNone);  // an older recording
  EXPECT_EQ(bend_of("tcg", {.sampled = 100}, 2).reason, Reason::kNone);
}

// The ticks of another reason were as often due in any code.
TEST(HostBend, LossesForOtherReasonsBendNothing) {
  EXPECT_EQ(bend_of("gdb", {.sampled = 40, .lost = 60}, 4, recording::kLostToUnwinding).reason,
            Reason::kNone);
}

}  // namespace
}  // namespace ringside::views
