#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "base/clock.h"
#include "engines/testing/fake_engine.h"
#include "recording/sample_statistics.h"
#include "recording/sample_visitor.h"
#include "session/recorder.h"

// For tests of the recorder: a recording of a guest made by hand, and what is in it.
namespace ringside::session::testing {

using engines::testing::FakeEngine;

class RunOn final : public Control {
 public:
  std::atomic<bool> stop{false};
  [[nodiscard]] Wish poll() override { return stop ? Wish::kStop : Wish::kSample; }
};

class Reading final : public recording::SampleVisitor {
 public:
  void sample(const recording::Sample& sample) override {
    seen.add(sample);
    if (sample.info.disposition == wire::Disposition::kSampled) sampled.push_back(sample.info);
  }
  void capture(const wire::Capture& capture) override { captures.push_back(capture); }
  void statistics(const recording::Statistics& recorded) override { written = recorded; }
  recording::SampleStatistics seen;
  recording::Statistics written;
  std::vector<recording::SampleInfo> sampled;
  std::vector<wire::Capture> captures;
};

class RecorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ringside-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  RecordResult record(FakeEngine& engine, const SamplingOptions& options, Control& control) {
    auto writer = recording::Writer::create(folder_ / "r.data", {});
    EXPECT_TRUE(writer);
    Recorder recorder(engine, KernelRequest{}, *writer, monotonic_ns(), options);
    return recorder.run(control);
  }
  Reading read() {
    Reading reading;
    auto reader = recording::Reader::open(folder_ / "r.data");
    EXPECT_TRUE(reader && reader->complete());
    EXPECT_TRUE(reader->for_each(reading));
    return reading;
  }

  std::filesystem::path folder_;
  RunOn control_;
};

inline std::uint64_t sum(const recording::SampleStatistics& seen) {
  std::uint64_t total = 0;
  for (const std::uint64_t count : seen.count) total += count;
  return total;
}

// Each tick that was due has a sample or a reason.
inline void expect_all_accounted_for(const Reading& reading) {
  EXPECT_EQ(reading.written.due, reading.seen.total_weight() + reading.written.lost);
  std::uint64_t reasons = 0;
  for (const auto& [name, value] : reading.written.counters)
    if (name.starts_with(recording::kLostByPrefix)) reasons += value;
  EXPECT_EQ(reasons, reading.written.lost);
}

}  // namespace ringside::session::testing
