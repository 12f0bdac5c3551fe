#include "views/comparison/call_tree_change.h"

#include <gtest/gtest.h>

#include <map>

#include "profile/profile_test_util.h"

namespace ringside::views {
namespace {

using profile::testing::make_profile;

// "before/main/f": its shares before and after, in percent.
std::map<std::string, std::pair<double, double>> shares_by_path(const CallTreeChange& change) {
  std::map<std::string, std::pair<double, double>> shares;
  std::vector<std::string> path;
  for (std::size_t i = 1; i < change.tree.nodes.size(); ++i) {
    const CallTree::Node& node = change.tree.nodes[i];
    path.resize(node.depth - 1);
    path.emplace_back(node.name);
    std::string text;
    for (const std::string& name : path) text += (text.empty() ? "" : "/") + name;
    shares[text] = {100 * change.shares[i].before, 100 * change.shares[i].after};
  }
  return shares;
}

TEST(CallTreeChange, HasATowerOfEachProfile) {
  const profile::Profile before =
      make_profile({{"main|stays", 5}, {"main|goes|below", 3}, {"main|grows", 2}});
  const profile::Profile after =
      make_profile({{"main|stays", 10}, {"main|comes", 2}, {"main|grows", 8}});
  const CallTreeChange change = compare_call_trees(before, after, {});
  using Shares = std::map<std::string, std::pair<double, double>>;
  EXPECT_EQ(shares_by_path(change), (Shares{{"before", {100, 100}},
                                            {"before/main", {100, 100}},
                                            {"before/main/goes", {30, 0}},
                                            {"before/main/goes/below", {30, 0}},
                                            {"before/main/grows", {20, 40}},
                                            {"before/main/stays", {50, 50}},
                                            {"after", {100, 100}},
                                            {"after/main", {100, 100}},
                                            {"after/main/comes", {0, 10}},
                                            {"after/main/grows", {20, 40}},
                                            {"after/main/stays", {50, 50}}}));
  EXPECT_NEAR(change.greatest, 0.3, 1e-12);
  // Both towers are as wide.
  EXPECT_EQ(change.tree.nodes[1].extent, change.tree.nodes[6 + 1].extent);
  EXPECT_EQ(change.tree.root().extent, 2 * change.tree.nodes[1].extent);
  EXPECT_EQ(change.tree.nodes[1].end, 7u);
  EXPECT_EQ(change.tree.depth, 4u);
}

TEST(CallTreeChange, NarrowFramesAreCutAndCounted) {
  const profile::Profile before = make_profile({{"main|wide", 990}, {"main|narrow|below", 10}});
  CallTreeChangeOptions options;
  options.minimum_share = 0.01;  // of both towers: 2 % of one
  const CallTreeChange change = compare_call_trees(before, before, options);
  EXPECT_EQ(change.tree.nodes.size(), 1u + 2 * 3);
  EXPECT_NEAR(static_cast<double>(change.tree.hidden),
              0.01 * static_cast<double>(change.tree.root().extent), 2);
  EXPECT_EQ(change.greatest, 0);
}

TEST(CallTreeChange, AnEmptyProfileHasNoTower) {
  const profile::Profile none = make_profile({});
  const profile::Profile some = make_profile({{"main", 1}});
  EXPECT_EQ(compare_call_trees(none, none, {}).tree.root().extent, 0u);
  const CallTreeChange change = compare_call_trees(none, some, {});
  ASSERT_EQ(change.tree.nodes.size(), 3u);
  EXPECT_EQ(change.tree.nodes[2].name, "main");
  EXPECT_EQ(change.shares[2].before, 0);
}

}  // namespace
}  // namespace ringside::views
