#include "app/sample_lines.h"

#include <gtest/gtest.h>

namespace ringside::app {
namespace {

using Sample = session::Control::Sample;

TEST(SampleLines, Head) {
  EXPECT_EQ(SampleLines(10'000'000, 5'000'000'000).head(), "Interval: 10ms\nDuration: 5s");
  EXPECT_EQ(SampleLines(997'009, std::nullopt).head(), "Interval: 997.009µs");
  EXPECT_EQ(SampleLines(0, 2'000'000'000).head(), "Duration: 2s");
  EXPECT_EQ(SampleLines(0, std::nullopt).head(), "");
}

TEST(SampleLines, OneSample) {
  SampleLines lines(10'000'000, std::nullopt);
  EXPECT_EQ(lines.of(Sample{1, 12, VcpuId{0}, 71'200'000, 310'000}),
            "Sample 1: 12 frames, vCPU 0, at 0.071s, took 310µs");
  EXPECT_EQ(lines.of(Sample{2, 1, VcpuId{3}, 81'200'000, 0}),
            "Sample 2: 1 frame, vCPU 3, at 0.081s");
}

TEST(SampleLines, AStopThatTookTooLongIsWarnedOfOnce) {
  SampleLines lines(10'000'000, std::nullopt);
  constexpr const char* kWarning = "\nWarning: Sampling took longer than interval (12ms > 10ms)";
  EXPECT_EQ(lines.of(Sample{1, 2, VcpuId{0}, 5'000'000, 12'000'000}),
            std::string("Sample 1: 2 frames, vCPU 0, at 0.005s, took 12ms") + kWarning);
  EXPECT_EQ(lines.of(Sample{2, 2, VcpuId{1}, 5'000'000, 12'000'000}),
            "Sample 2: 2 frames, vCPU 1, at 0.005s, took 12ms");
  EXPECT_EQ(lines.of(Sample{3, 2, VcpuId{0}, 17'000'000, 12'000'000}),
            std::string("Sample 3: 2 frames, vCPU 0, at 0.017s, took 12ms") + kWarning);
  EXPECT_EQ(lines.of(Sample{4, 2, VcpuId{0}, 27'000'000, 10'000'000}),
            "Sample 4: 2 frames, vCPU 0, at 0.027s, took 10ms");
}

}  // namespace
}  // namespace ringside::app
