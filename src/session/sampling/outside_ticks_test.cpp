// Ticks that come while ringside is suspended, or outside of the part that is to be recorded.

#include "base/testing/time_limits.h"
#include "session/testing/recorder_fixture.h"

namespace ringside::session {
namespace {

using engines::testing::FakeEngine;
using testing::expect_all_accounted_for;
using testing::Reading;
using testing::RecorderTest;

constexpr std::uint64_t kMs = 1'000'000;

// Is suspended once, for 60 ms, and ends some time later.
class Suspending final : public Control {
 public:
  explicit Suspending(const FakeEngine& engine) : engine_(&engine) {}
  [[nodiscard]] Wish poll() override {
    return engine_->ticks > ticks_after + 20 ? Wish::kStop : Wish::kSample;
  }
  [[nodiscard]] bool wants_suspension() override { return !suspended_ && engine_->ticks > 25; }
  void suspend() override {
    const std::uint64_t before = engine_->ticks;
    ::usleep(60'000);
    ticks_after = engine_->ticks;
    ticks_meanwhile = ticks_after - before;
    suspended_ = true;
  }
  [[nodiscard]] bool guest_is_suspended() override { return guest_too; }
  [[nodiscard]] bool has_suspended() const { return suspended_; }
  std::uint64_t ticks_after = ~0u;
  std::uint64_t ticks_meanwhile = 0;
  bool guest_too = false;

 private:
  const FakeEngine* engine_;
  std::atomic<bool> suspended_{false};
};

std::uint64_t lost_to_suspension(const Reading& reading) {
  const auto lost = reading.written.counters.find(recording::kLostToSuspension);
  return lost == reading.written.counters.end() ? 0 : lost->second;
}

TEST_F(RecorderTest, HoldsNoGuestWhileItIsSuspended) {
  FakeEngine engine(2);
  SamplingOptions options;
  options.interval_ns = kMs;
  Suspending control(engine);
  EXPECT_FALSE(record(engine, options, control).error);
  EXPECT_EQ(control.ticks_meanwhile, 0u);
  const Reading reading = read();
  expect_all_accounted_for(reading);
  EXPECT_GE(lost_to_suspension(reading), 2 * 55u);
}

// Ctrl-Z suspends QEMU, too, where ringside has started it: the tick at hand lasts until both go
// on.
TEST_F(RecorderTest, ATickThatTheGuestsOwnSuspensionInterruptsIsNotLate) {
  FakeEngine engine(2);
  SamplingOptions options;
  options.interval_ns = kMs;
  Suspending control(engine);
  control.guest_too = true;
  engine.on_tick = [&](wire::Capture&, const engines::VcpuPlan&, std::uint64_t tick) {
    if (tick == 25) {
      EXPECT_TRUE(ringside::testing::wait_until([&] { return control.has_suspended(); }));
    }
  };
  EXPECT_FALSE(record(engine, options, control).error);
  const Reading reading = read();
  expect_all_accounted_for(reading);
  EXPECT_GE(lost_to_suspension(reading), 2 * 55u);
}

// Wants so many ticks, after so many others.
class Part final : public Control {
 public:
  [[nodiscard]] Wish poll() override {
    const int number = polls_++;
    return number < 30 ? Wish::kWait : number < 80 ? Wish::kSample : Wish::kStop;
  }

 private:
  int polls_ = 0;
};

TEST_F(RecorderTest, TicksOutsideOfTheRecordingAreNotDue) {
  FakeEngine engine(2);
  engine.on_tick = [](wire::Capture& capture, const engines::VcpuPlan&, std::uint64_t tick) {
    if (tick % 3 == 0) capture.disposition = wire::Disposition::kIdle;
    capture.weight = 1;
  };
  SamplingOptions options;
  options.interval_ns = kMs;
  options.deterministic = true;
  Part control;
  EXPECT_FALSE(record(engine, options, control).error);
  const Reading reading = read();
  EXPECT_GT(reading.seen.total_weight(), 0u);
  EXPECT_GT(2 * engine.ticks, reading.seen.total_weight());
  expect_all_accounted_for(reading);
}

}  // namespace
}  // namespace ringside::session
