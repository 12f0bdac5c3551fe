// Sampling while the guest's memory is read in stops of the guest.

#include "session/sampling/sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/clock.h"
#include "engines/testing/fake_engine.h"
#include "recording/reader.h"
#include "session/recorder.h"
#include "session/testing/loaded_kernel.h"

namespace ringside::session {
namespace {

using engines::testing::FakeEngine;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kKernelPc = 0xffffffff81000000;

class Sampling final : public Control {
 public:
  std::uint64_t stop_at_ns = ~std::uint64_t{0};
  [[nodiscard]] Wish poll() override {
    return monotonic_ns() >= stop_at_ns ? Wish::kStop : Wish::kSample;
  }
};

// A guest whose kernel is looked for, by reads of which each stops it for 5 ms and never ends the
// search: 64 MiB in pieces of 64 KiB, up and down, take 20 s at least.
class ReadsInStops : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ringside-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    engine_.on_tick = [](wire::Capture& capture, const engines::VcpuPlan&, std::uint64_t) {
      capture.level = PrivilegeLevel::kKernel;
      capture.registers.set(arch::x86_64::kRip, kKernelPc);
      capture.registers.set(arch::x86_64::kRsp, kKernelPc);
    };
    engine_.on_read = [this](std::span<std::byte> into) -> Result<std::size_t> {
      ++reads_;
      const std::uint64_t now = monotonic_ns();
      if (engine_.turns != nullptr) RINGSIDE_TRY(engine_.turns->wait(last_, now + 5 * kMs));
      last_.from_ns = monotonic_ns();
      ::usleep(5000);
      last_.to_ns = monotonic_ns();
      return into.size();
    };
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  RecordResult record(const SamplingOptions& options, Control& control) {
    auto writer = recording::Writer::create(folder_ / "r.data", {});
    EXPECT_TRUE(writer);
    Recorder recorder(engine_, KernelRequest{}, *writer, monotonic_ns(), options);
    const std::uint64_t start = monotonic_ns();
    auto result = recorder.run(control);
    seconds_ = static_cast<double>(monotonic_ns() - start) / 1e9;
    return result;
  }

  FakeEngine engine_{2};
  engines::ReadStop last_;
  std::uint64_t reads_ = 0;
  double seconds_ = 0;
  std::filesystem::path folder_;
};

TEST_F(ReadsInStops, LetTicksGoFirstAndEndWithTheDuration) {
  SamplingOptions options;
  options.interval_ns = 2 * kMs;
  options.duration_ns = 800 * kMs;
  Sampling control;
  const RecordResult result = record(options, control);
  EXPECT_FALSE(result.error) << result.error->message;
  EXPECT_GT(reads_, 3u);
  // 400 ticks are due; a single one is taken where they wait for the search.
  EXPECT_GT(engine_.ticks, 40u);
  EXPECT_EQ(result.samples, 2 * engine_.ticks);
  EXPECT_LT(seconds_, 10);
  EXPECT_EQ(engine_.turns, nullptr);
}

TEST_F(ReadsInStops, EndWithTheRecording) {
  SamplingOptions options;
  options.interval_ns = 2 * kMs;
  Sampling control;
  constexpr std::uint64_t kEndsAfterNs = 300 * kMs;
  control.stop_at_ns = monotonic_ns() + kEndsAfterNs;
  const RecordResult result = record(options, control);
  EXPECT_FALSE(result.error) << result.error->message;
  EXPECT_GT(result.samples, 20u);
  EXPECT_LT(seconds_, 10);
}

// A read that lets no tick go first, until behind the recording's end.
TEST_F(ReadsInStops, TicksThatNobodyTookAreCountedToTheEnd) {
  engine_.on_read = [this](std::span<std::byte> into) -> Result<std::size_t> {
    if (reads_++ == 0) ::usleep(600'000);
    if (engine_.turns != nullptr) RINGSIDE_TRY(engine_.turns->wait(last_, monotonic_ns()));
    return into.size();
  };
  SamplingOptions options;
  options.interval_ns = 5 * kMs;
  options.duration_ns = 500 * kMs;
  Sampling control;
  const RecordResult result = record(options, control);
  EXPECT_FALSE(result.error) << result.error->message;
  EXPECT_LT(result.samples, 20u);
  constexpr std::uint64_t kDue = 2 * 100;  // vCPUs, intervals; a stop may move the last one out
  EXPECT_GE(result.due, kDue - 2 * 2);
  EXPECT_LE(result.due, kDue);
}

// The reader is slow: nothing of what is found out about the loader has been handed on when its
// kernel runs.
TEST(SamplerTest, UserInterruptsOfALoaderAreNotHandedOnWithItsKernel) {
  testing::LoadedKernel guest;
  SamplingOptions options;
  options.interval_ns = 10 * kMs;
  const CaptureFeedback feedback(1, options.stack_bytes, true);
  CapturePlanner planner(feedback, options, 1);
  KernelWatch watch(guest.request(), Arch::kAArch64);
  BoundedQueue<Observation> queue(1);
  Sampler sampler(guest.engine_, planner, watch, queue, options);
  std::uint64_t kernel_tick = 1'000'000;
  std::vector<Observation> seen;
  const auto take = [&] {
    if (auto next = queue.pop(std::chrono::milliseconds(0))) seen.push_back(std::move(*next));
  };
  const std::uint64_t start = monotonic_ns();
  guest.engine_.on_tick = [&](wire::Capture& capture, const engines::VcpuPlan&,
                              std::uint64_t tick) {
    const bool loader_is_known = monotonic_ns() - start > 1500 * kMs;
    if (loader_is_known) kernel_tick = std::min(kernel_tick, tick);
    testing::LoadedKernel::put_kernel_pc(capture, loader_is_known ? guest.kKernel : guest.kLoader);
    if (tick > 0) guest.engine_.no_registers.reset();
    if (tick == kernel_tick + 3) take();
    if (tick == kernel_tick + 5) sampler.stop();
  };
  sampler.start();
  sampler.join();
  take();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen.front().kernel->image.file, guest.loader_);
  ASSERT_NE(seen.back().kernel, nullptr);
  EXPECT_EQ(seen.back().kernel->image.file, guest.kernel_);
  EXPECT_EQ(seen.back().user_interrupts, nullptr);
}

}  // namespace
}  // namespace ringside::session
