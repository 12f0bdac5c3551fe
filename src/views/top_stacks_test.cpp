#include "views/top_stacks.h"

#include <gtest/gtest.h>

#include "profile/profile_test_util.h"

namespace ringside::views {
namespace {

TEST(TopStacks, HeaviestFirstLeafFirst) {
  const auto profile = profile::testing::make_profile(
      {{"s|b", 2, 0}, {"s|a", 2, 1}, {"s|c", 3, 0}, {"s|c", 3, 1}, {"s", 1}});
  const auto stacks = make_top_stacks(profile, 3);
  ASSERT_EQ(stacks.size(), 3u);
  EXPECT_EQ(profile.name(stacks[0].frames[0]), "c");
  EXPECT_EQ(profile.name(stacks[0].frames[1]), "s");
  EXPECT_EQ(stacks[0].weight, 6u);
  EXPECT_DOUBLE_EQ(stacks[0].share, 6.0 / 11);
  EXPECT_EQ(profile.name(stacks[1].frames[0]), "a");
  EXPECT_EQ(profile.name(stacks[2].frames[0]), "b");
  EXPECT_EQ(make_top_stacks(profile, 100).size(), 4u);
  EXPECT_TRUE(make_top_stacks(profile::testing::make_profile({}), 10).empty());
}

TEST(TopStacks, DistinguishNamesOfProcesses) {
  profile::testing::TestRecording recording;
  recording.name(1, 1, "dd").name(2, 2, "dd").name(3, 3, "sh");
  recording.add({"s|a", 2, 0, 1, 1}).add({"s|a", 3, 0, 2, 2}).add({"s|a", 4, 0, 3, 3});
  const auto profile = recording.profile();
  const auto stacks = make_top_stacks(profile, 9);
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(profile.strings[stacks[0].comm], "dd");
  EXPECT_EQ(stacks[0].weight, 5u);
  EXPECT_EQ(profile.strings[stacks[1].comm], "sh");
}

}  // namespace
}  // namespace ringside::views
