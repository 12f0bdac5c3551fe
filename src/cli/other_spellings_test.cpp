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

}  // namespace
}  // namespace ringside::cli
