#include "session/recorder.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "session/testing/recorder_fixture.h"

namespace ringside::session {
namespace {

using engines::testing::FakeEngine;
using testing::expect_all_accounted_for;
using testing::Reading;
using testing::RecorderTest;
using testing::RunOn;
using testing::sum;

TEST_F(RecorderTest, TotalsAddUp) {
  FakeEngine engine(3);
  engine.on_tick = [](wire::Capture& capture, const engines::VcpuPlan& plan, std::uint64_t tick) {
    capture.level = PrivilegeLevel::kUser;
    capture.registers.set(arch::x86_64::kRip, 0x400000);
    if (!plan.wanted) capture.disposition = wire::Disposition::kSkipped;
    if (capture.vcpu.value == 1) capture.disposition = wire::Disposition::kIdle;
    if (tick % 50 == 7) ::usleep(3000);  // the host is busy: ticks are missed
  };
  SamplingOptions options;
  options.interval_ns = 500'000;
  options.samples = 400;
  options.vcpus = {VcpuId{0}, VcpuId{1}};
  const RecordResult result = record(engine, options, control_);
  EXPECT_FALSE(result.error);
  const Reading reading = read();
  EXPECT_GE(reading.seen.count[static_cast<int>(wire::Disposition::kSampled)], 400u);
  EXPECT_GE(reading.seen.count[static_cast<int>(wire::Disposition::kIdle)], 400u);
  EXPECT_GE(reading.seen.count[static_cast<int>(wire::Disposition::kSkipped)], 400u);
  EXPECT_GT(reading.written.lost, 0u);
  expect_all_accounted_for(reading);
}

// As a damaged file of the plugin's may have it.
TEST_F(RecorderTest, AGuestsSampleWithoutRegistersHasNoFrames) {
  FakeEngine engine(1);
  engine.on_tick = [](wire::Capture& capture, const engines::VcpuPlan&, std::uint64_t) {
    capture.level = PrivilegeLevel::kGuest;
  };
  SamplingOptions options;
  options.interval_ns = 500'000;
  options.samples = 10;
  EXPECT_FALSE(record(engine, options, control_).error);
  EXPECT_GE(read().sampled.size(), 10u);
}

// Else what makes a stop long, such as a deep stack, would have more samples than its share.
TEST_F(RecorderTest, TicksAreDueByTheTimeThatTheGuestRuns) {
  constexpr std::uint64_t kMs = 1'000'000;
  constexpr std::uint64_t kLongestStop = 100 * kMs;  // more is a delay, which loses ticks
  for (const std::uint64_t pause : {4 * kMs, 150 * kMs}) {
    FakeEngine engine(1);
    engine.pause_ns = pause;
    engine.on_tick = [&](wire::Capture&, const engines::VcpuPlan&, std::uint64_t) {
      ::usleep(static_cast<useconds_t>(pause / 1000));
    };
    SamplingOptions options;
    options.interval_ns = kMs;
    options.duration_ns = 500 * kMs;
    EXPECT_FALSE(record(engine, options, control_).error);
    const Reading reading = read();
    const std::uint64_t stood_ns = sum(reading.seen) * std::min(pause, kLongestStop);
    EXPECT_NEAR(static_cast<double>(reading.written.due),
                static_cast<double>(reading.written.duration_ns - stood_ns) / kMs, 3);
    expect_all_accounted_for(reading);
  }
}

TEST_F(RecorderTest, EveryVcpuIsSeenWhereThatIsWanted) {
  for (const bool every_vcpu : {false, true}) {
    FakeEngine engine(2);
    // The second vCPU comes late, as those do that sample themselves.
    engine.on_tick = [](wire::Capture& capture, const engines::VcpuPlan&, std::uint64_t tick) {
      if (tick < 20) capture.vcpu = VcpuId{0};
    };
    SamplingOptions options;
    options.interval_ns = 1'000'000;
    options.samples = 1;
    if (every_vcpu) options.rounds = 1;
    options.deterministic = true;
    options.duration_ns = 1'000'000'000;
    RunOn control;
    const RecordResult result = record(engine, options, control);
    EXPECT_EQ(result.samples > 20, every_vcpu) << result.samples;
  }
}

// An idle vCPU has its rounds, too.
TEST_F(RecorderTest, EndsAfterSoManyRoundsOfAllVcpus) {
  FakeEngine engine(2);
  engine.on_tick = [](wire::Capture& capture, const engines::VcpuPlan&, std::uint64_t) {
    if (capture.vcpu.value == 1) capture.disposition = wire::Disposition::kIdle;
  };
  SamplingOptions options;
  options.interval_ns = 1'000'000;
  options.rounds = 30;
  options.deterministic = true;
  const RecordResult result = record(engine, options, control_);
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.samples, 30u);
}

TEST_F(RecorderTest, KeepsTheCaptureOfEachStack) {
  FakeEngine engine(2);
  engine.on_tick = [](wire::Capture& capture, const engines::VcpuPlan&, std::uint64_t tick) {
    capture.registers.set(arch::x86_64::kRip, 0x400000 + tick);
    if (capture.vcpu.value == 1) capture.disposition = wire::Disposition::kIdle;
  };
  SamplingOptions options;
  options.interval_ns = 500'000;
  options.samples = 40;
  for (const bool keep : {false, true}) {
    options.keep_captures = keep;
    EXPECT_FALSE(record(engine, options, control_).error);
    const Reading reading = read();
    ASSERT_GE(reading.sampled.size(), 40u);
    ASSERT_EQ(reading.captures.size(), keep ? reading.sampled.size() : 0);
    for (std::size_t i = 0; i < reading.captures.size(); ++i) {
      const wire::Capture& capture = reading.captures[i];
      EXPECT_EQ(capture.host_time_ns, reading.sampled[i].time_ns);
      EXPECT_EQ(capture.vcpu, reading.sampled[i].vcpu);
      EXPECT_GE(capture.registers.get(arch::x86_64::kRip), 0x400000u);
    }
  }
}

TEST_F(RecorderTest, AGuestThatEndsIsNoError) {
  FakeEngine engine(1);
  engine.fail_at = [](std::uint64_t tick) -> std::optional<Error> {
    if (tick < 20) return std::nullopt;
    return Error{ErrorCode::kClosed, "gone"};
  };
  SamplingOptions options;
  options.interval_ns = 200'000;
  const RecordResult result = record(engine, options, control_);
  EXPECT_TRUE(result.guest_gone);
  EXPECT_FALSE(result.error);
  EXPECT_EQ(sum(read().seen), 20u);
}

TEST_F(RecorderTest, AnErrorKeepsWhatWasRecorded) {
  FakeEngine engine(1);
  engine.fail_at = [](std::uint64_t tick) -> std::optional<Error> {
    if (tick == 3) return Error{ErrorCode::kTimeout, "slow host"};        // tried again
    if (tick == 5) return Error{ErrorCode::kDisturbed, "somebody else"};  // too
    if (tick < 20) return std::nullopt;
    return Error{ErrorCode::kProtocol, "nonsense"};
  };
  SamplingOptions options;
  options.interval_ns = 200'000;
  const RecordResult result = record(engine, options, control_);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->message, "nonsense");
  const Reading reading = read();
  EXPECT_EQ(sum(reading.seen), 18u);
  expect_all_accounted_for(reading);
}

TEST_F(RecorderTest, WhileItsUserPausesTheGuestNothingIsDue) {
  FakeEngine engine(1);
  SamplingOptions options;
  options.interval_ns = 1'000'000;
  options.duration_ns = 700'000'000;
  std::thread user([&] {
    ::usleep(200'000);
    engine.user_paused = true;
    ::usleep(300'000);
    engine.user_paused = false;
  });
  const RecordResult result = record(engine, options, control_);
  user.join();
  EXPECT_FALSE(result.error);
  const Reading reading = read();
  // The duration goes on meanwhile. A guest that goes on is noticed within 100 ms.
  EXPECT_GE(reading.written.due, 200u);
  EXPECT_LE(reading.written.due, 450u);
  EXPECT_GT(reading.written.counters.at("paused by its user ns"), 150'000'000u);
  expect_all_accounted_for(reading);
}

class Listening final : public Control {
 public:
  [[nodiscard]] Wish poll() override { return Wish::kSample; }
  void begun() override { reported += "begun "; }
  void left_alone(engines::LeftAlone why) override {
    constexpr const char* kWords[]{"goes on ", "paused ", "migrating ", "incoming "};
    reported += kWords[static_cast<std::size_t>(why)];
  }
  void overdue() override { is_overdue = true; }
  std::string reported;
  std::atomic<bool> is_overdue{false};
};

TEST_F(RecorderTest, APausedGuestIsReportedAndNotWaitedForLongerThanTheDuration) {
  FakeEngine engine(1);
  engine.user_paused = true;
  SamplingOptions options;
  options.duration_ns = 300'000'000;
  Listening control;
  const RecordResult result = record(engine, options, control);
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.samples, 0u);
  EXPECT_EQ(control.reported, "begun paused ");
  EXPECT_TRUE(engine.user_paused);
}

// A migration that fails: the guest is sampled again.
TEST_F(RecorderTest, AGuestThatIsMigratedIsReportedAndWaitedFor) {
  FakeEngine engine(1);
  SamplingOptions options;
  options.interval_ns = 1'000'000;
  options.duration_ns = 900'000'000;
  Listening control;
  std::thread user([&] {
    ::usleep(200'000);
    engine.left_alone = engines::LeftAlone::kMigrating;
    ::usleep(300'000);
    engine.left_alone = engines::LeftAlone::kNo;
  });
  const RecordResult result = record(engine, options, control);
  user.join();
  EXPECT_FALSE(result.error);
  EXPECT_FALSE(result.guest_moved);
  EXPECT_EQ(control.reported, "begun migrating goes on ");
  const Reading reading = read();
  EXPECT_GE(reading.written.due, 200u);
  EXPECT_LE(reading.written.due, 750u);
  expect_all_accounted_for(reading);
}

TEST_F(RecorderTest, AGuestThatHasMovedEndsTheRecordingInOrder) {
  FakeEngine engine(1);
  engine.fail_at = [&](std::uint64_t tick) -> std::optional<Error> {
    if (tick < 20) return std::nullopt;
    engine.has_moved = true;
    return Error{ErrorCode::kMigrating, "it is being migrated"};
  };
  SamplingOptions options;
  options.interval_ns = 1'000'000;
  const RecordResult result = record(engine, options, control_);
  EXPECT_FALSE(result.error);
  EXPECT_FALSE(result.guest_gone);
  EXPECT_TRUE(result.guest_moved);
  EXPECT_THAT(result.warnings, ::testing::Contains(::testing::HasSubstr("the guest has moved")));
  const Reading reading = read();
  EXPECT_EQ(sum(reading.seen), 20u);
  expect_all_accounted_for(reading);
}

// Its user takes a migration into a file for a snapshot, and lets the guest go on.
TEST_F(RecorderTest, AGuestThatComesBackAtOnceIsSampledAgain) {
  FakeEngine engine(1);
  engine.fail_at = [&](std::uint64_t tick) -> std::optional<Error> {
    if (tick != 20) return std::nullopt;
    engine.has_moved = true;
    return Error{ErrorCode::kMigrating, "it is being migrated"};
  };
  SamplingOptions options;
  options.interval_ns = 1'000'000;
  options.samples = 50;
  std::thread user([&] {
    while (!engine.has_moved) ::usleep(1000);
    ::usleep(250'000);
    engine.has_moved = false;
  });
  const RecordResult result = record(engine, options, control_);
  user.join();
  EXPECT_FALSE(result.error);
  EXPECT_FALSE(result.guest_moved);
  EXPECT_EQ(result.samples, 50u);
}

TEST_F(RecorderTest, TheDurationOfAGuestThatIsStartedLaterBeginsThen) {
  FakeEngine engine(1);
  engine.user_paused = true;
  SamplingOptions options;
  options.interval_ns = 1'000'000;
  options.duration_ns = 300'000'000;
  options.starts_paused = true;
  std::thread user([&] {
    ::usleep(600'000);
    engine.user_paused = false;
  });
  EXPECT_FALSE(record(engine, options, control_).error);
  user.join();
  EXPECT_GT(read().written.due, 150u);
}

// From its 5th tick on the engine does not answer. The duration ends in the second tick after
// that, `silence` after the first has begun.
SamplingOptions fall_silent(FakeEngine& engine, std::chrono::milliseconds silence) {
  engine.fail_at = [silence](std::uint64_t tick) -> std::optional<Error> {
    if (tick < 5) return std::nullopt;
    std::this_thread::sleep_for(silence / 2);
    return Error{ErrorCode::kTimeout, "no answer came"};
  };
  SamplingOptions options;
  options.interval_ns = 1'000'000;
  options.duration_ns = std::chrono::nanoseconds(silence / 2).count() + 100'000'000;
  return options;
}

TEST_F(RecorderTest, AnEngineThatAnswersNoMoreIsAnError) {
  FakeEngine engine(1);
  const auto options = fall_silent(engine, std::chrono::milliseconds(2100));
  const RecordResult result = record(engine, options, control_);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->code, ErrorCode::kTimeout);
  EXPECT_NE(result.error->message.find("no answer came"), std::string::npos);
  EXPECT_EQ(read().written.due, sum(read().seen) + read().written.lost);
}

TEST_F(RecorderTest, AnEngineThatIsSilentForAShortWhileAtTheEndIsAWarning) {
  FakeEngine engine(1);
  const auto options = fall_silent(engine, std::chrono::milliseconds(200));
  const RecordResult result = record(engine, options, control_);
  EXPECT_FALSE(result.error);
  EXPECT_THAT(result.warnings, ::testing::Contains(::testing::AllOf(
                                   ::testing::HasSubstr("nothing was sampled in the last 0."),
                                   ::testing::HasSubstr("no answer came"))));
  EXPECT_EQ(read().written.due, sum(read().seen) + read().written.lost);
}

TEST_F(RecorderTest, AnEngineThatIsSlowIsInterrupted) {
  FakeEngine engine(1);
  Listening control;
  engine.fail_at = [&](std::uint64_t tick) -> std::optional<Error> {
    if (tick < 10) return std::nullopt;
    while (!control.is_overdue) ::usleep(1000);
    return Error{ErrorCode::kDisturbed, "interrupted"};
  };
  SamplingOptions options;
  options.interval_ns = 1'000'000;
  options.duration_ns = 200'000'000;
  const RecordResult result = record(engine, options, control);
  EXPECT_FALSE(result.error);
  EXPECT_EQ(read().written.due, sum(read().seen) + read().written.lost);
}

TEST_F(RecorderTest, AFullDiskStopsRecordingWithAMessage) {
  FakeEngine engine(1);
  auto writer = recording::Writer::create("/dev/full", {});
  RecordResult result;
  if (writer) {
    SamplingOptions options;
    options.interval_ns = 200'000;
    options.duration_ns = 2'000'000'000;
    Recorder recorder(engine, KernelRequest{}, *writer, monotonic_ns(), options);
    result = recorder.run(control_);
  } else {
    result.error = writer.error();
  }
  ASSERT_TRUE(result.error);
  EXPECT_NE(result.error->message.find("/dev/full"), std::string::npos);
}

}  // namespace
}  // namespace ringside::session
