#include "exporters/samples/asterinas_json.h"

#include <gtest/gtest.h>

#include "exporters/exporters_test_util.h"
#include "profile/detailed_profile.h"
#include "profile/profile_test_util.h"

namespace ringside::exporters {
namespace {

struct At {
  std::uint64_t time_ns;
  std::uint16_t vcpu;
};

// The stack of each sample is "f".
std::string json_of(const std::vector<At>& samples, const char* engine) {
  recording::testing::TempDir dir;
  recording::Header header;
  header.arch = Arch::kX86_64;
  header.vcpu_count = 2;
  header.interval_ns = 10'000'000;
  header.engine = engine;
  auto writer = recording::Writer::create(dir / "data", header);
  EXPECT_TRUE(writer);
  Stack stack;
  const std::vector frames{testing::frame(0x1000, true, FrameKind::kKernel)};
  stack.frames.assign(frames.begin(), frames.end());
  for (const At& at : samples) {
    recording::SampleInfo info;
    info.time_ns = at.time_ns;
    info.vcpu = {at.vcpu};
    EXPECT_TRUE(writer->add_sample(info, &stack));
  }
  EXPECT_TRUE(writer->finish());
  auto reader = recording::Reader::open(dir / "data");
  EXPECT_TRUE(reader);
  profile::testing::FakeNamer namer;
  namer.names[0x1000] = {"f"};
  auto profile = profile::DetailedProfile::read(*reader, namer, {});
  EXPECT_TRUE(profile);
  return testing::text_of(
      [&](Sink& sink) { return write_asterinas_json(**profile, ExportOptions(), sink); });
}

// One vCPU's sample is lost in the first two rounds: the rest of them are rounds of their own.
TEST(AsterinasJson, ARoundIsWhatOneStopShowed) {
  EXPECT_EQ(json_of({{10, 0}, {20, 1}, {30, 0}, {30, 1}}, "gdb"),
            "{\"stack_traces\":[{\"0\":[\"f\"]},{\"1\":[\"f\"]},{\"0\":[\"f\"],\"1\":[\"f\"]}]}\n");
}

TEST(AsterinasJson, VcpusThatSampleThemselvesHaveARoundInEachInterval) {
  EXPECT_EQ(json_of({{1'000'000, 0}, {6'000'000, 1}, {12'000'000, 1}, {22'000'000, 0}}, "tcg"),
            "{\"stack_traces\":[{\"0\":[\"f\"],\"1\":[\"f\"]},{\"1\":[\"f\"]},{\"0\":[\"f\"]}]}\n");
}

}  // namespace
}  // namespace ringside::exporters
