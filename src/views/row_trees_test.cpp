#include "views/row_trees.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profile/limit_stacks.h"
#include "profile/profile_test_util.h"

namespace ringside::views {
namespace {

using profile::Profile;
using profile::testing::make_profile;

// "name weight", with '=' before what its caller leads to alone, and callees in brackets.
std::string text_of(const Profile& profile, const RowTree& tree) {
  std::string text;
  std::uint32_t depth = 0;
  for (const RowTree::Node& node : tree.nodes) {
    for (; depth > node.depth; --depth) text += ']';
    if (depth < node.depth)
      text += '[';
    else if (!text.empty())
      text += ' ';
    depth = node.depth;
    text += fmt::format("{}{} {}", node.is_only ? "=" : "",
                        profile.strings[profile.functions[node.function].name], node.weight);
  }
  return text + std::string(depth, ']');
}

std::string tree_of(const Profile& profile, const std::string& name, const RowTreeOptions& how,
                    const OverheadOptions& options = {}) {
  const OverheadTable table = make_overhead(profile, options);
  const RowTrees trees(profile, options, table.all, how);
  for (std::size_t i = 0; i < table.all.rows.size(); ++i) {
    const OverheadRow& row = table.all.rows[i];
    if (profile.strings[profile.functions[row.function.value()].name] == name)
      return text_of(profile, trees.of(i));
  }
  return "no such row";
}

RowTreeOptions how(bool callees, bool with_callees) {
  RowTreeOptions options;
  options.callees = callees;
  options.with_callees = with_callees;
  return options;
}

class RowTreesTest : public ::testing::Test {
 protected:
  Profile profile_ = make_profile({{"start|a|leaf", 5}, {"start|a", 3}, {"start|b", 4}});
};

TEST_F(RowTreesTest, OfWhatARowCalls) {
  EXPECT_EQ(tree_of(profile_, "start", how(true, true)), "start 12[a 8[leaf 5] b 4]");
}

TEST_F(RowTreesTest, SamplesThatEndAtARowHaveTheirWholeStacks) {
  EXPECT_EQ(tree_of(profile_, "a", how(true, true)), "a 5[=leaf 5] start 3[=a 3]");
  EXPECT_EQ(tree_of(profile_, "leaf", how(true, true)), "start 5[=a 5[=leaf 5]]");
}

TEST_F(RowTreesTest, OfWhoCallsARow) {
  EXPECT_EQ(tree_of(profile_, "a", how(false, true)), "a 8[=start 8]");
  EXPECT_EQ(tree_of(profile_, "leaf", how(false, true)), "leaf 5[=a 5[=start 5]]");
}

TEST_F(RowTreesTest, WithoutCalleesOnlyOfSamplesThatEndAtARow) {
  EXPECT_EQ(tree_of(profile_, "a", how(false, false)), "a 3[=start 3]");
  EXPECT_EQ(tree_of(profile_, "a", how(true, false)), "start 3[=a 3]");
  EXPECT_EQ(tree_of(profile_, "start", how(false, false)), "");
}

TEST(RowTrees, RecursionBeginsAtTheOutermostFrameOrTheInnermost) {
  const Profile profile =
      make_profile({{"start|fib|fib|fib", 5}, {"start|fib|fib|add", 2}, {"start|fib|get|fib", 1}});
  EXPECT_EQ(tree_of(profile, "fib", how(true, true)),
            "start 6[=fib 6[fib 5[=fib 5] get 1[=fib 1]]] fib 2[=fib 2[=add 2]]");
  EXPECT_EQ(tree_of(profile, "fib", how(false, true)),
            "fib 8[fib 7[fib 5[=start 5] start 2] get 1[=fib 1[=start 1]]]");
}

TEST(RowTrees, SamplesThatEndAtARowAreNotAmongThoseBelowIt) {
  const Profile profile =
      make_profile({{"s|r|a|b", 1}, {"s|r|a|r", 2}, {"s|r|a|x", 4}, {"s|r|a|x|y", 8}, {"s|r", 16}});
  EXPECT_EQ(tree_of(profile, "r", how(true, true)),
            "s 18[=r 18[a 2[=r 2]]] r 13[=a 13[x 12[y 8] b 1]]");
}

TEST(RowTrees, NarrowCallsAreCutButPartTheirCaller) {
  const Profile profile = make_profile({{"s|a|b", 98}, {"s|a|c", 1}, {"s|d", 1}});
  RowTreeOptions options = how(true, true);
  options.minimum_share = 0.05;
  EXPECT_EQ(tree_of(profile, "s", options), "s 100[a 99[b 98]]");
  EXPECT_EQ(tree_of(profile, "c", options), "");
}

TEST(RowTrees, TheHeaviestOfManyCalls) {
  const Profile profile = make_profile({{"s|a", 1}, {"s|b", 3}, {"s|c", 2}});
  RowTreeOptions options = how(true, true);
  options.most_siblings = 2;
  EXPECT_EQ(tree_of(profile, "s", options), "s 6[b 3 c 2]");
}

TEST(RowTrees, ALargeTreeIsCut) {
  std::string deep = "f0";
  for (int i = 1; i < 300; ++i) deep += "|f" + std::to_string(i);
  const Profile profile = make_profile({{deep, 1}});
  RowTreeOptions options = how(true, true);
  options.most_nodes = 100;
  const OverheadOptions usual;
  const OverheadTable table = make_overhead(profile, usual);
  const RowTrees trees(profile, usual, table.all, options);
  std::size_t cut = 0;
  for (std::size_t i = 0; i < table.all.rows.size(); ++i) {
    const RowTree tree = trees.of(i);
    EXPECT_LE(tree.nodes.size(), 100U);
    cut += tree.is_cut ? 1 : 0;
  }
  EXPECT_EQ(cut, 201U);  // all above the innermost 100, and the leaf with its whole stack
}

TEST(RowTrees, EachOwnerHasItsOwn) {
  const Profile profile = make_profile({{"s|a|x", 2, 0}, {"s|b|x", 3, 1}});
  OverheadOptions options;
  options.keys = {SortKey::kVcpu, SortKey::kSymbol};
  const OverheadTable table = make_overhead(profile, options);
  const RowTrees trees(profile, options, table.all, how(false, false));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < table.all.rows.size(); ++i)
    if (table.all.rows[i].self != 0) texts.push_back(text_of(profile, trees.of(i)));
  EXPECT_EQ(texts, (std::vector<std::string>{"x 3[=b 3[=s 3]]", "x 2[=a 2[=s 2]]"}));
}

TEST(RowTrees, InlinedCodeStandsInTheTreeOfTheRowThatHoldsIt) {
  const Profile profile = make_profile({{"s|a < spin", 5}, {"s|a", 1}});
  OverheadOptions options;
  options.inlined_rows = false;
  EXPECT_EQ(tree_of(profile, "a", how(false, false), options), "spin 5[=a 5[=s 5]] a 1[=s 1]");
  EXPECT_EQ(tree_of(profile, "s", how(true, true), options), "s 6[=a 6[spin 5]]");
}

TEST(RowTrees, OnlyOfSamplesWithAParent) {
  const Profile profile = make_profile({{"s|p|a", 2}, {"s|q|a", 3}});
  OverheadOptions options;
  options.only_with_parent = true;
  for (const profile::Function& function : profile.functions)
    options.is_parent.push_back(profile.strings[function.name] == "p");
  EXPECT_EQ(tree_of(profile, "s", how(true, true), options), "s 2[=p 2[=a 2]]");
  const OverheadTable table = make_overhead(profile, options);
  EXPECT_EQ(table.all.extent, 5U);
}

TEST(LimitStacks, KeepsTheInnermostFrames) {
  Profile profile = make_profile({{"s|a|x", 2}, {"s|b|a|x", 3}, {"s", 1}});
  profile::limit_stacks(profile, 2, profile::KeptFrames::kInnermost);
  EXPECT_EQ(tree_of(profile, "a", how(true, true)), "a 5[=x 5]");
  EXPECT_EQ(tree_of(profile, "s", how(true, true)), "s 1");
  EXPECT_EQ(profile.samples.size(), 2U);
  EXPECT_EQ(profile.all_frames, 11U);
}

// As perf has it with --max-stack 2 in the order of callers.
TEST(LimitStacks, KeepsTheOutermostFramesAndTheLeaf) {
  Profile profile = make_profile({{"s|a|b|x", 2}, {"s|a|y", 3}, {"s|a", 1}});
  profile::limit_stacks(profile, 2, profile::KeptFrames::kOutermost);
  EXPECT_EQ(tree_of(profile, "s", how(true, true)), "s 6[=a 6]");
  EXPECT_EQ(tree_of(profile, "a", how(true, true)), "a 5 s 1[=a 1]");
  EXPECT_EQ(tree_of(profile, "x", how(true, true)), "s 2[=a 2]");
  EXPECT_EQ(tree_of(profile, "b", how(true, true)), "no such row");
}

TEST(LimitStacks, InlinedFunctionsBelongToTheOneThatHoldsThem) {
  Profile profile = make_profile({{"s|a < spin < pause", 2}});
  profile::limit_stacks(profile, 1, profile::KeptFrames::kInnermost);
  OverheadOptions options;
  options.inlined_rows = false;
  EXPECT_EQ(tree_of(profile, "a", how(true, true), options), "a 2[=spin 2[=pause 2]]");
}

}  // namespace
}  // namespace ringside::views
