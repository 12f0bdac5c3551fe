#include "app/settings/time_range.h"

#include <gtest/gtest.h>

namespace ringside::app {
namespace {

constexpr std::uint64_t kEver = std::numeric_limits<std::uint64_t>::max();

TEST(TimeRange, SecondsOfWhichEitherMayBeLeftOut) {
  const auto expect = [](std::string_view text, std::uint64_t from_ns, std::uint64_t to_ns) {
    const auto range = parse_time_range(text);
    ASSERT_TRUE(range) << text;
    EXPECT_EQ(range->from_ns, from_ns) << text;
    EXPECT_EQ(range->to_ns, to_ns) << text;
  };
  expect("", 0, kEver);
  expect("1.5,3", 1'500'000'000, 3'000'000'000);
  expect("0,0.25", 0, 250'000'000);
  expect("2,", 2'000'000'000, kEver);
  expect(",0.000000001", 0, 1);
  expect(",", 0, kEver);
}

TEST(TimeRange, BadOnesAreNamed) {
  for (const char* text :
       {"1", "3,1.5", "1,1", "a,2", "1,b", "-1,2", "1,2,3", "1s,2", "nan,2", "0,inf", "0,1e30"}) {
    const auto range = parse_time_range(text);
    ASSERT_FALSE(range) << text;
    EXPECT_NE(range.error().message.find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace ringside::app
