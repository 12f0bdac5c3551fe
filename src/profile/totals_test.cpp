#include <gtest/gtest.h>

#include <random>

#include "profile/profile_test_util.h"

// The property that every view rests on: whatever was recorded, nothing gets lost on the way.
namespace ringside::profile {
namespace {

using testing::TestRecording;

TEST(Totals, AddUpForRandomRecordings) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    TestRecording recording;
    std::uint64_t expected[recording::kDispositionCount] = {};
    const int lines = static_cast<int>(random() % 40);
    for (int i = 0; i < lines; ++i) {
      const auto disposition = static_cast<wire::Disposition>(random() % 4);
      const std::uint64_t count = random() % 5;
      const auto vcpu = static_cast<std::uint16_t>(random() % 3);
      expected[static_cast<std::size_t>(disposition)] += count;
      if (disposition != wire::Disposition::kSampled) {
        recording.add(disposition, count, vcpu);
        continue;
      }
      std::string stack;
      for (auto depth = random() % 6; depth > 0; --depth)
        stack += (stack.empty() ? "" : "|") + std::string(random() % 4 == 0 ? "irq:i" : "f") +
                 std::to_string(random() % 4);
      if (random() % 2 == 0) stack = "user:u || " + stack;
      testing::Line line{stack, count, vcpu};
      if (const auto pid = static_cast<std::uint32_t>(random() % 4); pid != 0) line.pid = pid;
      recording
          .name(static_cast<std::uint32_t>(1 + random() % 3), 0,
                "name" + std::to_string(random() % 3))
          .add(line);
    }
    BuildOptions options;
    options.join_interrupts = round % 2 == 0;
    if (round % 5 == 1) options.filter.vcpus = {VcpuId{1}};
    if (round % 5 == 2) options.filter.user_only = true;
    if (round % 5 == 3) options.filter.comms = {"name1", "[irq]"};
    if (round % 5 == 4) options.filter.pids = {2, 3};
    const Profile profile = recording.profile(options);
    std::uint64_t kept = 0;
    std::uint64_t kept_samples = 0;
    for (const SampleGroup& group : profile.samples) {
      kept += group.weight;
      kept_samples += group.samples;
      EXPECT_EQ(group.stack == kNoNode, !profile.is_sampled(group));
    }
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < recording::kDispositionCount; ++i) {
      EXPECT_EQ(profile.totals.weight[i], expected[i]);
      total += expected[i];
    }
    EXPECT_EQ(profile.totals.total_weight(), total);
    EXPECT_EQ(kept + profile.filtered_weight, total);
    EXPECT_EQ(kept_samples + profile.filtered_samples, total);
  }
}

}  // namespace
}  // namespace ringside::profile
