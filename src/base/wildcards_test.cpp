#include "base/wildcards.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(Wildcards, AStarStandsForAnything) {
  EXPECT_TRUE(matches("a*c", "abbc"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*b*", "aXbYb"));
  EXPECT_TRUE(matches("abc", "abc"));
  EXPECT_FALSE(matches("a*c", "abcd"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches("abc", "ab"));
}

}  // namespace
}  // namespace ringside
