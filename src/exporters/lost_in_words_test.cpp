#include "exporters/lost_in_words.h"

#include <gmock/gmock.h>

#include "profile/profile_test_util.h"

namespace ringside::exporters {
namespace {

using profile::testing::TestRecording;
using ::testing::AllOf;
using ::testing::HasSubstr;

profile::Profile losing(std::uint64_t lost, const char* counter) {
  TestRecording recording;
  recording.add({"a", 90});
  recording::Statistics statistics;
  statistics.due = 90 + lost;
  statistics.lost = lost;
  statistics.counters = {{counter, lost}};
  EXPECT_TRUE(recording.writer().add_statistics(statistics));
  return recording.profile();
}

TEST(LostInWords, ATenthDoesNotMatter) {
  const auto profile = losing(10, recording::kLostByHost);
  EXPECT_EQ(lost_in_words(profile), "");
  EXPECT_EQ(lost_in_short(profile), "");
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

}  // namespace
}  // namespace ringside::exporters
