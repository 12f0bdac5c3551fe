#include "app/settings/interval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Interval, HasAUnitOrIsMilliseconds) {
  EXPECT_EQ(parse_interval("10").value(), 10'000'000u);
  EXPECT_EQ(parse_interval("1.5").value(), 1'500'000u);
  EXPECT_EQ(parse_interval("200us").value(), 200'000u);
  EXPECT_EQ(parse_interval("100ms").value(), 100'000'000u);
  EXPECT_EQ(parse_interval("0.1s").value(), 100'000'000u);
}

// Asterinas' profiler takes seconds: 0.1 is a tenth of a second there.
TEST(Interval, ANumberBelowOneNeedsAUnit) {
  for (const char* text : {"0.1", "0.999", "0"})
    EXPECT_THAT(parse_interval(text).error().message,
                AllOf(HasSubstr("100us"), HasSubstr("0.1s"), HasSubstr(text)));
}

TEST(Interval, AnythingElseIsRefused) {
  for (const char* text :
       {"", "s", "1 s", "1m", "-1", "1e3", "nan", "inf", "99us", "10001s", "1sx"})
    EXPECT_EQ(parse_interval(text).error().code, ErrorCode::kUsage) << text;
}

TEST(Interval, WithoutAUnitAsTheOtherToolHasIt) {
  EXPECT_EQ(*parse_interval("2"), 2'000'000u);
  EXPECT_EQ(*parse_interval("2", BareInterval::kSeconds), 2'000'000'000u);
  EXPECT_EQ(*parse_interval("0.1", BareInterval::kSeconds), 100'000'000u);
  EXPECT_EQ(*parse_interval("2ms", BareInterval::kSeconds), 2'000'000u);
  EXPECT_EQ(*parse_interval("2ms", BareInterval::kRefused), 2'000'000u);
  const auto refused = parse_interval("0.1", BareInterval::kRefused);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("0.1s or 0.1ms"), std::string::npos);
  const auto wrong = parse_interval("x", BareInterval::kSeconds);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("a number of seconds"), std::string::npos);
}

}  // namespace
}  // namespace ringside::app
