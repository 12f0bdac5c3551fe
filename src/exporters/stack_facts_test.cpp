#include "exporters/stack_facts.h"

#include <gtest/gtest.h>

#include "profile/profile_test_util.h"
#include "recording/counters.h"

namespace ringside::exporters {
namespace {

using profile::testing::TestRecording;

TEST(StackFacts, TheLimitIsRingsidesWhereItHasWalkedTheStacks) {
  TestRecording recording;
  recording.add({"a|b", 3});
  profile::Profile profile = recording.profile();
  EXPECT_EQ(stack_facts(profile).depth_limit, 512u);
  EXPECT_EQ(stack_facts(profile).unwound, 3u);
  for (const char* engine : {"ring", "", "perf"}) {
    profile.header.engine = engine;
    EXPECT_FALSE(stack_facts(profile).depth_limit) << engine;
  }
}

TEST(StackFacts, SamplesAreTornWhereTheWriterCountsThem) {
  for (const std::uint64_t torn : {0, 3}) {
    TestRecording recording;
    recording.add({"a|b", 3});
    recording::Statistics statistics;
    statistics.counters = {{recording::kTornCounter, torn}};
    EXPECT_TRUE(recording.writer().add_statistics(statistics));
    EXPECT_EQ(stack_facts(recording.profile()).is_torn, torn != 0);
  }
}

TEST(StackFacts, PlacesOfOneFunctionAreOne) {
  TestRecording recording;
  recording.add({"entry", 1});
  profile::Profile profile = recording.profile();
  const profile::FunctionId entry = profile.frames[0].function;
  const auto end = [&](StopReason reason, std::uint64_t samples) {
    profile.broken_ends.push_back({false, reason, entry, false, false, samples});
  };
  end(StopReason::kBadAddress, 4);
  end(StopReason::kNoRule, 3);
  end(StopReason::kTruncated, 9);  // has nothing to do with the code there
  const auto places = stack_facts(profile).places;
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].function, "entry");
  EXPECT_EQ(places[0].reason, StopReason::kBadAddress);
  EXPECT_EQ(places[0].samples, 7u);
}

}  // namespace
}  // namespace ringside::exporters
