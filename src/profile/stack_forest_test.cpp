#include "profile/stack_forest.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace ringside::profile {
namespace {

// "1 2 3" for frames, root first.
std::string text_of(const StackTree& tree, NodeId leaf) {
  std::string text;
  for (const FrameId frame : tree.frames_of(leaf)) text += std::to_string(frame) + " ";
  return text;
}

TEST(StackForest, EqualSiblingsBecomeOne) {
  StackForest forest;
  const NodeId a = forest.append(kNoNode, 1);
  const NodeId b = forest.append(a, 2);
  const NodeId again = forest.append(kNoNode, 1);
  const NodeId c = forest.append(again, 2);
  const NodeId d = forest.append(c, 1);
  const NodeId e = forest.append(again, 0);
  const auto merged = std::move(forest).merge();
  EXPECT_EQ(merged.tree.size(), 5u);
  EXPECT_EQ(merged.node_of[a], merged.node_of[again]);
  EXPECT_EQ(merged.node_of[b], merged.node_of[c]);
  EXPECT_EQ(text_of(merged.tree, merged.node_of[d]), "1 2 1 ");
  EXPECT_EQ(text_of(merged.tree, merged.node_of[e]), "1 0 ");
  EXPECT_EQ(merged.node_of[kNoNode], kNoNode);
}

TEST(StackForest, NoStacks) {
  const auto merged = StackForest().merge();
  EXPECT_EQ(merged.tree.size(), 1u);
  EXPECT_EQ(merged.tree[0].end, 1u);
}

TEST(StackForest, RandomStacksKeepTheirFramesInPreorder) {
  std::mt19937 random(1);
  StackForest forest;
  std::map<NodeId, std::string> expected{{kNoNode, ""}};
  std::vector<NodeId> nodes{kNoNode};
  for (int i = 0; i < 20'000; ++i) {
    const NodeId parent = nodes[random() % nodes.size()];
    const auto frame = static_cast<FrameId>(random() % 5);
    nodes.push_back(forest.append(parent, frame));
    expected[nodes.back()] = expected[parent] + std::to_string(frame) + " ";
  }
  const auto merged = std::move(forest).merge();
  std::map<std::string, NodeId> node_of;
  for (const auto& [node, text] : expected) {
    ASSERT_EQ(text_of(merged.tree, merged.node_of[node]), text);
    ASSERT_EQ(node_of.try_emplace(text, merged.node_of[node]).first->second, merged.node_of[node]);
  }
  EXPECT_EQ(merged.tree.size(), node_of.size());
  for (NodeId id = 1; id < merged.tree.size(); ++id) {
    const StackTree::Node& node = merged.tree[id];
    const StackTree::Node& parent = merged.tree[node.parent];
    ASSERT_TRUE(node.parent < id && id < node.end && node.end <= parent.end);
    // In preorder the node before is the parent, or the last one below the sibling before.
    ASSERT_TRUE(node.parent == id - 1 || merged.tree[id - 1].end == id);
  }
}

}  // namespace
}  // namespace ringside::profile
