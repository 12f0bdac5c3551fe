#include "cli/verbs/call_graph_mode.h"

#include <gtest/gtest.h>

namespace ringside::cli {
namespace {

TEST(CallGraphMode, TakesPerfsWords) {
  const auto mode = parse_call_graph_mode("graph,1.5,callee,7,function,percent");
  ASSERT_TRUE(mode) << mode.error().message;
  EXPECT_TRUE(mode->is_wanted);
  EXPECT_EQ(mode->callees, false);
  EXPECT_EQ(mode->minimum_percent, 1.5);
  EXPECT_EQ(mode->most_siblings, 7U);
}

TEST(CallGraphMode, LeavesOpenWhatIsNotThere) {
  const auto mode = parse_call_graph_mode("graph");
  ASSERT_TRUE(mode);
  EXPECT_FALSE(mode->callees);
  EXPECT_FALSE(mode->minimum_percent);
  EXPECT_EQ(mode->most_siblings, 0U);
}

TEST(CallGraphMode, NoneLeavesTreesOut) {
  const auto mode = parse_call_graph_mode("none");
  ASSERT_TRUE(mode);
  EXPECT_FALSE(mode->is_wanted);
}

TEST(CallGraphMode, RefusesInWords) {
  for (const char* const text : {"flat", "folded,0.5", "fractal", "address", "nonsense", "101",
                                 "0.5,1.5", "1,2,3", "", "caller,"}) {
    const auto mode = parse_call_graph_mode(text);
    ASSERT_FALSE(mode) << text;
    EXPECT_EQ(mode.error().code, ErrorCode::kUsage);
  }
}

TEST(CallGraphMode, IsToldFromAFile) {
  for (const char* const word : {"caller", "callee,2", "none", "0.5,caller", "flat", "graph,5"})
    EXPECT_TRUE(is_call_graph_mode(word)) << word;
  for (const char* const word : {"ringside.data", "callers", "/tmp/none", "-F", ""})
    EXPECT_FALSE(is_call_graph_mode(word)) << word;
}

}  // namespace
}  // namespace ringside::cli
