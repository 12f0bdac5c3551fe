#include "app/settings/time_span.h"

#include <gtest/gtest.h>

namespace ringside::app {
namespace {

TEST(ParseTimeSpan, TakesNumbersWithAndWithoutAUnit) {
  const auto span = [](std::string_view text) { return *parse_time_span("--since", text); };
  EXPECT_EQ(span("1000").number, 1000);
  EXPECT_EQ(span("1000").unit_seconds, 0);
  EXPECT_EQ(span("0.5s").number, 0.5);
  EXPECT_EQ(span("0.5s").unit_seconds, 1);
  EXPECT_EQ(span("7ms").unit_seconds, 1e-3);
  EXPECT_EQ(span("7us").unit_seconds, 1e-6);
  EXPECT_EQ(span("7ns").unit_seconds, 1e-9);
  EXPECT_EQ(span("0").number, 0);
}

TEST(ParseTimeSpan, RefusesOthers) {
  for (const char* text : {"", "s", "-1", "1h", "1 s", "nan", "1e3"}) {
    const auto result = parse_time_span("--since", text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::kUsage);
  }
}

}  // namespace
}  // namespace ringside::app
