#include "session/one_shot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/testing/recorder_fixture.h"

namespace ringside::session {
namespace {

using ::testing::ElementsAre;
using testing::FakeEngine;
using ::testing::IsEmpty;
using testing::RecorderTest;

EarlySamples::Sample sample_of(std::uint16_t vcpu, StopReason stop,
                               std::optional<std::uint32_t> pid) {
  EarlySamples::Sample sample;
  sample.info.vcpu = VcpuId{vcpu};
  sample.info.disposition = wire::Disposition::kSampled;
  sample.info.level = PrivilegeLevel::kKernel;
  sample.info.pid = pid;
  sample.parts.resize(1);
  sample.parts.front().stop = stop;
  return sample;
}

TEST(OneShot, EndsWhenEachStackIsWhole) {
  OneShot shot(2);
  EXPECT_FALSE(shot.is_done(0));
  shot.keep(sample_of(0, StopReason::kEndOfStack, 7), true);
  shot.end_round(1, true);
  EXPECT_FALSE(shot.is_done(1));  // vCPU 1 has none
  shot.keep(sample_of(0, StopReason::kEndOfStack, 7), true);
  shot.keep(sample_of(1, StopReason::kUserMode, 8), true);
  shot.end_round(2, true);
  EXPECT_TRUE(shot.is_done(2));
  EXPECT_EQ(shot.rounds(), 2u);
  EXPECT_THAT(shot.gaps(), IsEmpty());
}

TEST(OneShot, WaitsForTheKernelForAWhile) {
  OneShot shot(1);
  std::uint64_t now = 1;
  for (int round = 0; round < 9; ++round) {
    shot.keep(sample_of(0, StopReason::kFirmware, std::nullopt), false);
    shot.end_round(now++, false);
    EXPECT_FALSE(shot.is_done(now));
  }
  shot.end_round(1 + OneShot::kKernelPatienceNs, false);
  EXPECT_TRUE(shot.is_done(1 + OneShot::kKernelPatienceNs));
}

TEST(OneShot, TakesThreeRoundsAtMost) {
  OneShot shot(1);
  for (int round = 1; round <= 3; ++round) {
    EXPECT_FALSE(shot.is_done(10));
    shot.keep(sample_of(0, StopReason::kNoRule, std::nullopt), true);
    shot.end_round(10, true);
  }
  EXPECT_TRUE(shot.is_done(10));
  EXPECT_THAT(shot.gaps(), ElementsAre(OneShot::Gap{VcpuId{0}, false, StopReason::kNoRule, true}));
}

// The last of the best: vCPUs are shown at one moment, where that is as good.
TEST(OneShot, KeepsTheBestState) {
  OneShot shot(1);
  shot.keep(sample_of(0, StopReason::kTruncated, 1), true);
  EXPECT_EQ(shot.keep(sample_of(0, StopReason::kEndOfStack, 2), true), 1u);
  EXPECT_EQ(shot.keep(sample_of(0, StopReason::kTruncated, 3), true), 1u);
  EXPECT_EQ(shot.keep(sample_of(0, StopReason::kEndOfStack, 4), true), 1u);
  EarlySamples::Sample failed = sample_of(0, StopReason::kNoRegisters, std::nullopt);
  failed.info.disposition = wire::Disposition::kFailed;
  shot.keep(std::move(failed), true);
  std::vector<std::uint32_t> pids;
  ASSERT_TRUE(shot.write([&](const EarlySamples::Sample& sample) -> Result<void> {
    pids.push_back(*sample.info.pid);
    return {};
  }));
  EXPECT_THAT(pids, ElementsAre(4u));
}

// A state from before says less: that a process is missing was not known yet.
TEST(OneShot, StartsOverWhenTheKernelIsIdentified) {
  OneShot shot(2);
  shot.keep(sample_of(0, StopReason::kFirmware, std::nullopt), false);
  shot.keep(sample_of(1, StopReason::kFirmware, std::nullopt), false);
  EXPECT_EQ(shot.start_over(), 2u);
  shot.keep(sample_of(0, StopReason::kNoRule, std::nullopt), true);
  EXPECT_THAT(shot.gaps(), ElementsAre(OneShot::Gap{VcpuId{0}, false, StopReason::kNoRule, true},
                                       OneShot::Gap{VcpuId{1}, true, std::nullopt, false}));
}

// Where kernel code alone is wanted, a vCPU in user code shows nothing.
TEST(OneShot, AStackIsBetterThanNone) {
  OneShot shot(1);
  shot.keep(sample_of(0, StopReason::kNoRule, std::nullopt), true);
  EarlySamples::Sample skipped = sample_of(0, StopReason::kEndOfStack, std::nullopt);
  skipped.info.disposition = wire::Disposition::kSkipped;
  shot.keep(std::move(skipped), true);
  ASSERT_EQ(shot.gaps().size(), 1u);
  EXPECT_EQ(shot.gaps()[0].cut, StopReason::kNoRule);
}

// A kernel's own thread has none where the kernel names no processes; user code has one anyway.
TEST(OneShot, AProcessIsMissedWhereThereIsOne) {
  OneShot shot(2);
  EarlySamples::Sample user = sample_of(1, StopReason::kUser, std::nullopt);
  user.info.level = PrivilegeLevel::kUser;
  shot.keep(sample_of(0, StopReason::kEndOfStack, std::nullopt), false);
  shot.keep(std::move(user), false);
  EXPECT_THAT(shot.gaps(), ElementsAre(OneShot::Gap{VcpuId{1}, false, std::nullopt, true}));
}

TEST(OneShot, GivesUpOnAVcpuThatGivesNothing) {
  OneShot shot(2);
  shot.keep(sample_of(0, StopReason::kEndOfStack, 7), true);
  shot.end_round(1, true);
  EXPECT_FALSE(shot.is_done(OneShot::kPatienceNs));
  EXPECT_TRUE(shot.is_done(OneShot::kPatienceNs + 1));
  EXPECT_THAT(shot.gaps(), ElementsAre(OneShot::Gap{VcpuId{1}, true, std::nullopt, false}));
}

// Each round is taken when the one before has been unwound, and one sample of each vCPU is
// recorded.
TEST_F(RecorderTest, OneShotTakesRoundsOneAfterTheOther) {
  FakeEngine engine(2);
  engine.on_tick = [](wire::Capture& capture, const engines::VcpuPlan&, std::uint64_t tick) {
    capture.level = PrivilegeLevel::kUser;
    if (tick < 4 && capture.vcpu.value == 1) capture.disposition = wire::Disposition::kFailed;
    capture.registers.set(arch::x86_64::kRip, 0x400000);
  };
  SamplingOptions options;
  options.one_shot = true;
  options.interval_ns = 1'000'000;
  const RecordResult result = record(engine, options, control_);
  EXPECT_FALSE(result.error);
  EXPECT_GE(result.rounds, 7u);
  for (const OneShot::Gap& gap : result.gaps) EXPECT_FALSE(gap.is_missing);
  const testing::Reading reading = read();
  EXPECT_EQ(testing::sum(reading.seen), 2u);
  testing::expect_all_accounted_for(reading);
}

}  // namespace
}  // namespace ringside::session
