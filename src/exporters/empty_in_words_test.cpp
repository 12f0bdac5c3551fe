#include "exporters/empty_in_words.h"

#include <gmock/gmock.h>

#include "profile/detailed_profile.h"
#include "profile/profile_test_util.h"

namespace ringside::exporters {
namespace {

using profile::testing::TestRecording;
using ::testing::HasSubstr;
using wire::Disposition;

recording::Statistics due(std::uint64_t ticks, std::uint64_t lost = 0) {
  recording::Statistics statistics;
  statistics.due = ticks;
  statistics.lost = lost;
  if (lost != 0) statistics.counters = {{recording::kLostByHost, lost}};
  return statistics;
}

TEST(EmptyInWords, OneSampleIsEnough) {
  TestRecording recording;
  recording.add({"a"}).add(Disposition::kIdle, 9);
  EXPECT_TRUE(recording.writer().add_statistics(due(10)));
  const auto profile = recording.profile();
  EXPECT_EQ(empty_in_words(profile), "");
  EXPECT_FALSE(is_all_idle(profile));
}

TEST(EmptyInWords, AllIdle) {
  TestRecording recording;
  recording.add(Disposition::kIdle, 9);
  EXPECT_TRUE(recording.writer().add_statistics(due(9)));
  const auto profile = recording.profile();
  EXPECT_THAT(empty_in_words(profile), HasSubstr("9 of 9 vCPU ticks found the vCPU idle"));
  EXPECT_THAT(empty_in_words(profile), HasSubstr("--halted"));
  EXPECT_TRUE(is_all_idle(profile));
}

TEST(EmptyInWords, OtherTicksMayBeLost) {
  for (const std::uint64_t lost : {1u, 8u, 9u}) {
    TestRecording recording;
    recording.add(Disposition::kIdle, 9);
    EXPECT_TRUE(recording.writer().add_statistics(due(9 + lost, lost)));
    EXPECT_EQ(is_all_idle(recording.profile()), lost < 9);
  }
}

TEST(EmptyInWords, MostAreLost) {
  TestRecording recording;
  recording.add(Disposition::kIdle, 2);
  EXPECT_TRUE(recording.writer().add_statistics(due(9, 7)));
  const auto profile = recording.profile();
  EXPECT_THAT(empty_in_words(profile),
              HasSubstr("7 of 9 vCPU ticks were lost, most of them: vCPU not run by the host"));
  EXPECT_FALSE(is_all_idle(profile));
}

TEST(EmptyInWords, NoneWasDue) {
  TestRecording recording;
  EXPECT_TRUE(recording.writer().add_statistics(due(0)));
  EXPECT_EQ(empty_in_words(recording.profile()), "no vCPU tick was due");
  EXPECT_EQ(empty_in_words(TestRecording().profile()), "nothing was recorded");
}

TEST(EmptyInWords, SkippedAndFailed) {
  TestRecording skipped;
  skipped.add(Disposition::kSkipped, 3);
  EXPECT_THAT(empty_in_words(skipped.profile()), HasSubstr("were not asked for"));
  TestRecording failed;
  failed.add(Disposition::kFailed, 3);
  EXPECT_THAT(empty_in_words(failed.profile()), HasSubstr("3 of 3 vCPU ticks gave no registers"));
}

TEST(EmptyInWords, FilteredAway) {
  TestRecording recording;
  recording.add({"a", 40});
  profile::BuildOptions options;
  options.filter.pids = {999};
  EXPECT_EQ(empty_in_words(recording.profile(options)),
            "the options that choose samples leave out all 40");
}

// A vCPU that is left out was idle, too.
TEST(EmptyInWords, FiltersDoNotHideThatAllIsIdle) {
  TestRecording recording;
  recording.add(Disposition::kIdle, 9).add(Disposition::kIdle, 9, 1);
  profile::BuildOptions options;
  options.filter.vcpus = {VcpuId{0}};
  const auto profile = recording.profile(options);
  EXPECT_TRUE(is_all_idle(profile));
  EXPECT_THAT(empty_in_words(profile), HasSubstr("idle"));
}

TEST(EmptyInWords, IdleTicksDoNotHideThatAllIsFiltered) {
  TestRecording recording;
  recording.add({"a", 40}).add(Disposition::kIdle, 9);
  profile::BuildOptions options;
  options.filter.user_only = true;
  auto reader = recording.reader();
  const auto details = profile::DetailedProfile::read(reader, recording.namer(), options);
  ASSERT_TRUE(details);
  const std::string filtered = "the options that choose samples leave out all 40";
  EXPECT_EQ(empty_in_words((*details)->profile()), filtered);
  EXPECT_EQ(empty_in_words(recording.profile(options)), filtered);
}

}  // namespace
}  // namespace ringside::exporters
