// Sampling while the guest's memory is read in stops of the guest.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/clock.h"
#include "engines/testing/fake_engine.h"
#include "recording/reader.h"
#include "session/recorder.h"

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
class ReadsInStops : public testing::Test {
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

}  // namespace
}  // namespace ringside::session
