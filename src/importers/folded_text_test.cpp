#include "importers/folded_text.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace ringside::importers {
namespace {

using profile::Kind;
using profile::Profile;

Result<Profile> read(const std::string& text) { return read_folded_text(as_bytes(text), "t"); }

using Stacks = std::map<std::string, profile::Weight>;

Stacks stacks_of(const Profile& profile) {
  Stacks stacks;
  for (const profile::SampleGroup& group : profile.samples) {
    std::string text;
    for (const profile::FrameId frame : profile.stacks.frames_of(group.stack))
      text += (text.empty() ? "" : ";") + std::string(profile.name(frame));
    EXPECT_TRUE(stacks.emplace(text, group.weight).second) << text;
  }
  return stacks;
}

TEST(FoldedText, StacksInAnyOrder) {
  const auto profile = read("a;b 1\na;b;c 2\na;bc 3\na 4\n\na;b 5\r\nb;a 6");
  ASSERT_TRUE(profile);
  EXPECT_EQ(stacks_of(*profile),
            (Stacks{{"a", 4}, {"a;b", 6}, {"a;b;c", 2}, {"a;bc", 3}, {"b;a", 6}}));
  EXPECT_EQ(profile->weight_of(wire::Disposition::kSampled), 21u);
  EXPECT_EQ(profile->totals.weight[0], 21u);
  EXPECT_EQ(profile->unique_stacks, 5u);
  EXPECT_EQ(profile->damage, "");
}

TEST(FoldedText, NamesWithBlanksAndNone) {
  const auto profile = read("operator new(unsigned long);std::map<int, int>::at 2\na;;b 3\na; 4\n");
  ASSERT_TRUE(profile);
  EXPECT_EQ(stacks_of(*profile), (Stacks{{"operator new(unsigned long);std::map<int, int>::at", 2},
                                         {"a;[empty name];b", 3},
                                         {"a;[empty name]", 4}}));
}

TEST(FoldedText, SuffixesOfFrames) {
  const auto profile = read("main;jitted_[j];tiny_[i];sys_read_[k] 1\n");
  ASSERT_TRUE(profile);
  std::vector<std::pair<Kind, bool>> kinds;
  for (const profile::FrameId id : profile->stacks.frames_of(profile->samples[0].stack))
    kinds.emplace_back(profile->frames[id].kind, profile->frames[id].inlined);
  EXPECT_EQ(stacks_of(*profile), (Stacks{{"main;jitted;tiny;sys_read", 1}}));
  EXPECT_EQ(kinds, (std::vector<std::pair<Kind, bool>>{{Kind::kCode, false},
                                                       {Kind::kUser, false},
                                                       {Kind::kCode, true},
                                                       {Kind::kKernel, false}}));
}

TEST(FoldedText, MangledNamesAreShownInAStyle) {
  const std::string text = "main;_ZN3foo3barIiEEvT__[k] 1\nmain;foo::bar<int>;_RNvC1a1f 2\n";
  const auto stacks = [&](symbols::DemangleStyle style) {
    return stacks_of(*read_folded_text(as_bytes(text), "t", style));
  };
  EXPECT_EQ(stacks(symbols::DemangleStyle::kFull),
            (Stacks{{"main;void foo::bar<int>(int)", 1}, {"main;foo::bar<int>;a::f", 2}}));
  EXPECT_EQ(stacks(symbols::DemangleStyle::kShort),
            (Stacks{{"main;foo::bar", 1}, {"main;foo::bar<int>;a::f", 2}}));
  EXPECT_EQ(stacks(symbols::DemangleStyle::kNone),
            (Stacks{{"main;_ZN3foo3barIiEEvT_", 1}, {"main;foo::bar<int>;_RNvC1a1f", 2}}));
}

TEST(FoldedText, CountsWithAFractionAreMultiplied) {
  const auto profile = read("a 1.5\nb 0.25\nc 2.\nd .5\n");
  ASSERT_TRUE(profile);
  EXPECT_EQ(stacks_of(*profile), (Stacks{{"a", 150}, {"b", 25}, {"c", 200}, {"d", 50}}));
  EXPECT_EQ(profile->weight_of(wire::Disposition::kSampled), 425);
  EXPECT_EQ(profile->warnings,
            std::vector<std::string>{"t: counts have fractions: each is multiplied by 100"});
}

TEST(FoldedText, FractionsOfZerosOnlyAreWholeNumbers) {
  const auto profile = read("a 1.0\nb 3.000\n");
  ASSERT_TRUE(profile);
  EXPECT_EQ(stacks_of(*profile), (Stacks{{"a", 1}, {"b", 3}}));
  EXPECT_TRUE(profile->warnings.empty());
}

TEST(FoldedText, FractionsHaveSixDigits) {
  const auto profile = read("a 0.1234565\nb 1\nc 0.9999999\n");
  ASSERT_TRUE(profile);
  EXPECT_EQ(stacks_of(*profile), (Stacks{{"a", 123457}, {"b", 1000000}, {"c", 1000000}}));
}

TEST(FoldedText, LargeCountsLeaveLessRoomForFractions) {
  const auto some = read("a 800000000000000000\nb 0.25\nc 0.74\n");
  ASSERT_TRUE(some);
  EXPECT_EQ(stacks_of(*some), (Stacks{{"a", 8000000000000000000}, {"b", 3}, {"c", 7}}));
  const auto none = read("a 5000000000000000000\nb 0.25\nc 0.75\n");
  ASSERT_TRUE(none);
  EXPECT_EQ(stacks_of(*none), (Stacks{{"a", 5000000000000000000}, {"b", 0}, {"c", 1}}));
  EXPECT_TRUE(none->warnings.empty());
}

TEST(FoldedText, CountsMayBeNegative) {
  const auto profile = read("a;b -3\na 2\na;c -0.6\n");
  ASSERT_TRUE(profile);
  EXPECT_EQ(stacks_of(*profile), (Stacks{{"a;b", -30}, {"a", 20}, {"a;c", -6}}));
  EXPECT_EQ(profile->weight_of(wire::Disposition::kSampled), -16);
}

TEST(FoldedText, CountsThatWouldNotAddUpAreLeftOut) {
  const auto profile = read("a 9223372036854775807\nb 1\nc -1\nd 0\ne 9223372036854775808\n");
  ASSERT_TRUE(profile);
  EXPECT_EQ(stacks_of(*profile), (Stacks{{"a", 9223372036854775807}, {"d", 0}}));
  EXPECT_EQ(profile->damage,
            "lines that are no folded stack are left out: 3 of 5; the first is line 2");
}

TEST(FoldedText, LinesThatAreNoStacksAreCounted) {
  const auto profile = read("a 1\nno count\n# comment\nb 3x\nc 2\n");
  ASSERT_TRUE(profile);
  EXPECT_EQ(stacks_of(*profile), (Stacks{{"a", 1}, {"c", 2}}));
  EXPECT_EQ(profile->damage,
            "lines that are no folded stack are left out: 2 of 4; the first is line 2");
}

TEST(FoldedText, CommentsAreSkipped) {
  const auto profile = read("# made by a script 7\n#\na 1\n#words\n#<Class:0x1>;b 2\n");
  ASSERT_TRUE(profile);
  EXPECT_EQ(stacks_of(*profile), (Stacks{{"a", 1}, {"#<Class:0x1>;b", 2}}));
  EXPECT_EQ(profile->damage, "");
}

TEST(FoldedText, MostLinesAreToBeStacks) {
  EXPECT_TRUE(read("a 1\nwords\n# comment\n# comment\n"));
  const auto profile = read("words\na 1\n\n# comment\nmore words\n                1\n");
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().code, ErrorCode::kFormat);
  EXPECT_EQ(profile.error().message,
            "t: 3 of 4 lines are no folded stacks, such as 'main;read;copy 12', and the first of "
            "them is line 1: give the text that a stackcollapse script makes");
}

TEST(FoldedText, Errors) {
  EXPECT_EQ(read("").error().message, "t: no line is a folded stack, such as 'main;read;copy 12'");
  EXPECT_EQ(read("\nwords\n").error().message,
            "t: no line is a folded stack, such as 'main;read;copy 12'; line 2 is none");
  EXPECT_NE(read("a;b 1 2\na 3 4\n").error().message.find("two counts"), std::string::npos);
  // A frame may end in a number.
  EXPECT_TRUE(read("vcpu 0 1\na;b 2\n"));
}

TEST(FoldedText, ItsBeginning) {
  const auto is_folded = [](const std::string& text) { return is_folded_text(as_bytes(text)); };
  EXPECT_TRUE(is_folded("a;b 1\n"));
  EXPECT_TRUE(is_folded("\n\na 1"));
  EXPECT_FALSE(is_folded(""));
  EXPECT_FALSE(is_folded("words\na 1\n"));
  EXPECT_FALSE(is_folded(std::string("a\0b 1\n", 6)));
  EXPECT_TRUE(is_folded("words\na 1\nb 2\n"));
  EXPECT_TRUE(is_folded("# comment\n# comment\na 1\n"));
  EXPECT_FALSE(is_folded("# comment 1\n# comment 2\n"));
  EXPECT_FALSE(is_folded("a 1\nwords\nwords\n"));
  EXPECT_FALSE(is_folded("              12\n                1\n"));
}

TEST(FoldedText, LinesBehindTheBeginningDoNotShowIt) {
  const std::string words = std::string(40'000, 'w') + "\n";
  const std::string stacks = "a 1\nb 2\n";
  EXPECT_TRUE(is_folded_text(as_bytes(stacks + words + words + words)));
  EXPECT_FALSE(is_folded_text(as_bytes(words + words + stacks + stacks)));
}

// Against a reader that shares nothing between lines.
TEST(FoldedText, RandomStacks) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    Stacks expected;
    for (int i = 0; i < 40; ++i) {
      std::string stack;
      for (auto depth = 1 + random() % 5; depth > 0; --depth)
        stack += (stack.empty() ? "" : ";") + std::string(1 + random() % 3, 'a') +
                 (random() % 4 == 0 ? "b" : "");
      const std::uint64_t count = random() % 100;
      expected[stack] += count;
      text += stack + " " + std::to_string(count) + "\n";
    }
    const auto profile = read(text);
    ASSERT_TRUE(profile);
    ASSERT_EQ(stacks_of(*profile), expected) << text;
  }
}

}  // namespace
}  // namespace ringside::importers
