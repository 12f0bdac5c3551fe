#include "exporters/cut_in_words.h"

#include <gmock/gmock.h>

#include "exporters/exporters_test_util.h"
#include "exporters/report/text_report.h"
#include "profile/profile_test_util.h"

namespace ringside::exporters {
namespace {

using profile::testing::TestRecording;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::text_of;

// One stack of so many frames, as the unwinder leaves it at its bound.
void add_deep(TestRecording& recording, std::size_t frames) {
  Stack stack;
  for (std::size_t i = 0; i < frames; ++i) stack.frames.push_back({GuestVirt{0x1000 + i}, i == 0});
  stack.stop = StopReason::kTooDeep;
  recording::SampleInfo info;
  info.level = PrivilegeLevel::kKernel;
  ASSERT_TRUE(recording.writer().add_sample(info, &stack));
}

TEST(CutInWords, NothingWasCut) {
  TestRecording recording;
  recording.add({"a", 9});
  const auto profile = recording.profile();
  EXPECT_THAT(all_in_words(profile), IsEmpty());
  EXPECT_EQ(text_of([&](Sink& sink) { return write_warnings(profile, sink); }), "");
}

TEST(CutInWords, DeepStacksAreInTheReportsHead) {
  TestRecording recording;
  recording.add({"a", 9});
  add_deep(recording, 512);
  const auto profile = recording.profile();
  EXPECT_THAT(cut_in_words(profile),
              ElementsAre(HasSubstr(
                  "1 of 10 stacks (10.00%) are deeper than ringside's limit of 512 frames")));
  EXPECT_THAT(text_of([&](Sink& sink) { return write_warnings(profile, sink); }),
              HasSubstr("# warning: 1 of 10 stacks"));
  EXPECT_THAT(text_of([&](Sink& sink) { return write_header(profile, sink); }),
              HasSubstr("# warning          : 1 of 10 stacks"));
}

TEST(CutInWords, WhatTheReaderLeavesOutIsNoWarningOfTheWriter) {
  TestRecording recording;
  add_deep(recording, 600);
  EXPECT_TRUE(recording.writer().add_warning("the clock stood still"));
  const auto profile = recording.profile();
  EXPECT_THAT(profile.warnings, ElementsAre("the clock stood still"));
  EXPECT_THAT(cut_in_words(profile), ElementsAre(HasSubstr("ringside's limit of 512"),
                                                 HasSubstr("more than 512 frames are left out")));
}

TEST(CutInWords, BentSharesAndLostTicksComeFirst) {
  TestRecording recording;
  add_deep(recording, 512);
  recording::Statistics statistics;
  statistics.due = 10;
  statistics.lost = 9;
  statistics.counters = {{recording::kLostByHost, 9}};
  EXPECT_TRUE(recording.writer().add_statistics(statistics));
  EXPECT_THAT(all_in_words(recording.profile()),
              ElementsAre(HasSubstr("bent by the host"), HasSubstr("9 of 10 vCPU ticks"),
                          HasSubstr("ringside's limit of 512")));
}

}  // namespace
}  // namespace ringside::exporters
