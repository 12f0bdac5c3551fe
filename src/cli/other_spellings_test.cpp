#include "cli/other_spellings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::cli {
namespace {

using Words = std::vector<std::string>;

TEST(OtherSpellings, RedoxTool) {
  Words words = {"redox-kprofiling", "profiling-0", "syms.txt", "xo", "2.2"};
  ASSERT_TRUE(respell(words));
  EXPECT_THAT(words, testing::ElementsAre("export", "-i", "profiling-0", "--symbols", "syms.txt",
                                          "--redox-style", "xo", "--cpu-freq", "2.2", "--format",
                                          "perf-script"));
}

TEST(OtherSpellings, ItsWordsAreFour) {
  for (Words words : {Words{"redox-kprofiling"}, Words{"redox-kprofiling", "a", "b", "c"},
                      Words{"redox-kprofiling", "a", "b", "c", "1", "2"}}) {
    const auto result = respell(words);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kUsage);
    EXPECT_NE(result.error().message.find("FILE NM OPTIONS GHZ"), std::string::npos);
  }
}

TEST(OtherSpellings, OwnWordsStay) {
  Words words = {"export", "redox-kprofiling"};
  ASSERT_TRUE(respell(words));
  EXPECT_EQ(words, (Words{"export", "redox-kprofiling"}));
  Words none;
  ASSERT_TRUE(respell(none));
}

Words respelt(Words words) {
  EXPECT_TRUE(respell(words));
  return words;
}

TEST(OtherSpellings, ACallGraphMayHaveAModeOrNot) {
  EXPECT_EQ(respelt({"report", "-g"}), (Words{"report", "--call-graph=graph"}));
  EXPECT_EQ(respelt({"report", "-g", "caller,1", "x.data"}),
            (Words{"report", "--call-graph=caller,1", "x.data"}));
  EXPECT_EQ(respelt({"report", "-g", "x.data"}), (Words{"report", "--call-graph=graph", "x.data"}));
  EXPECT_EQ(respelt({"report", "-gcallee"}), (Words{"report", "--call-graph=callee"}));
  EXPECT_EQ(respelt({"report", "-ng", "x.data"}),
            (Words{"report", "-n", "--call-graph=graph", "x.data"}));
  EXPECT_EQ(respelt({"report", "--", "-g"}), (Words{"report", "--", "-g"}));
  EXPECT_EQ(respelt({"record", "-g"}), (Words{"record", "-g"}));
}

TEST(OtherSpellings, ASeparatorIsNoLetter) {
  EXPECT_EQ(respelt({"report", "-x,"}), (Words{"report", "--field-separator=,"}));
  EXPECT_EQ(respelt({"report", "-xG"}), (Words{"report", "-xG"}));
  EXPECT_EQ(respelt({"report", "-x"}), (Words{"report", "-x"}));
}

}  // namespace
}  // namespace ringside::cli
