#include "exporters/lost_in_words.h"

#include <gmock/gmock.h>

#include "profile/profile_test_util.h"

namespace ringside::exporters {
namespace {

using profile::testing::TestRecording;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

profile::Profile losing(std::uint64_t lost, const char* counter,
                        std::uint64_t interval_ns = 10'000'000) {
  TestRecording recording;
  recording.add({"a", 90});
  recording::Statistics statistics;
  statistics.due = 90 + lost;
  statistics.lost = lost;
  statistics.counters = {{counter, lost}};
  EXPECT_TRUE(recording.writer().add_statistics(statistics));
  profile::Profile profile = recording.profile();
  profile.header.engine = "tcg";
  profile.header.interval_ns = interval_ns;
  return profile;
}

TEST(LostInWords, ATenthDoesNotMatter) {
  const auto profile = losing(10, recording::kLostByHost);
  EXPECT_EQ(lost_in_words(profile), "");
  EXPECT_EQ(lost_in_short(profile), "");
}

TEST(LostInWords, AnyLoss) {
  EXPECT_EQ(any_loss_in_words(losing(0, recording::kLostByHost)), "");
  EXPECT_EQ(any_loss_in_words(losing(10, recording::kLostByHost)),
            "10 of 100 vCPU ticks (10.00%) were lost, most of them: vCPU not run by the host");
}

TEST(LostInWords, HowManyWhyAndWhatToDo) {
  const auto by_host = losing(110, recording::kLostByHost);
  EXPECT_THAT(lost_in_words(by_host),
              AllOf(HasSubstr("110 of 200 vCPU ticks (55.00%)"),
                    HasSubstr("vCPU not run by the host"), HasSubstr("fewer vCPUs")));
  EXPECT_EQ(lost_in_short(by_host), "55.00% lost (vCPU not run by the host)");
  EXPECT_THAT(lost_in_words(losing(110, recording::kLostToUnwinding)),
              AllOf(HasSubstr("too slow"), HasSubstr("sample less often")));
  EXPECT_THAT(lost_in_words(losing(110, recording::kLostToGuestRing)),
              HasSubstr("give the guest's rings more words"));
}

// Less often helps only where it is the rate that is too high.
TEST(LostInWords, SampleLessOftenWhereThatHelps) {
  for (const char* const counter :
       {recording::kLostToVcpu, recording::kLostLate, recording::kLostToEngine}) {
    EXPECT_THAT(lost_in_words(losing(110, counter, 100'000)), HasSubstr("sample less often"));
    const std::string seldom = lost_in_words(losing(110, counter, 20'000'000));
    EXPECT_THAT(seldom, AllOf(HasSubstr("the host is busy"), HasSubstr("docs/busy-hosts.md")));
    EXPECT_THAT(seldom, Not(HasSubstr("less often")));
  }
  EXPECT_THAT(lost_in_words(losing(110, recording::kLostByHost, 100'000)),
              Not(HasSubstr("less often")));
}

// A vCPU that repeats a trap for good runs no code that a plugin sees.
TEST(LostInWords, NothingIsSaidOfTheHostWhereNoCodeRan) {
  TestRecording recording;
  recording::Statistics statistics;
  statistics.due = statistics.lost = 600;
  statistics.counters = {{recording::kLostToVcpu, 600}};
  EXPECT_TRUE(recording.writer().add_statistics(statistics));
  profile::Profile profile = recording.profile();
  profile.header.engine = "tcg";
  profile.header.interval_ns = 5'000'000;
  EXPECT_THAT(lost_in_words(profile), AllOf(HasSubstr("--engine gdb"), Not(HasSubstr("busy"))));
  EXPECT_EQ(bent_in_words(profile), "");
}

TEST(BentInWords, TheReasonAndWhereToRead) {
  auto profile = losing(110, recording::kLostByHost);
  profile.header.engine = "gdb";
  EXPECT_THAT(bent_in_words(profile),
              AllOf(HasSubstr("shares are bent by the host"), HasSubstr("at 55% of the ticks"),
                    HasSubstr("docs/busy-hosts.md")));
  EXPECT_EQ(bent_in_short(profile), "shares are bent by the host");
  const auto not_bent = losing(110, recording::kLostToUnwinding);
  EXPECT_EQ(bent_in_words(not_bent), "");
  EXPECT_EQ(bent_in_short(not_bent), "");
}

}  // namespace
}  // namespace ringside::exporters
