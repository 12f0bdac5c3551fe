#include "profile/stack_forest.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/release.h"

namespace ringside::profile {

// The children of one merged node, as they are found: one list of equal nodes for each frame. The
// lists are linked by the nodes.
class StackForest::Siblings {
 public:
  Siblings(std::size_t frames, LargeVector<Node>& nodes) : last_(frames), nodes_(nodes) {}

  void begin(NodeId parent) {
    parent_ = parent;
    heads_.clear();
  }
  void add(NodeId id) {
    Last& last = last_[nodes_[id].frame];
    if (last.parent == parent_) {
      nodes_[last.node].link = id;
    } else {
      last.parent = parent_;
      heads_.push_back(id);
    }
    last.node = id;
    nodes_[id].link = kNoNode;
  }
  // The first node of each list.
  [[nodiscard]] const std::vector<NodeId>& heads() const { return heads_; }

 private:
  struct Last {
    NodeId parent = 0xffffffff;  // the merged node whose child of that frame was found last
    NodeId node = kNoNode;
  };
  std::vector<Last> last_;  // by frame
  LargeVector<Node>& nodes_;
  std::vector<NodeId> heads_;
  NodeId parent_ = kNoNode;
};

StackForest::Merged StackForest::merge() && {
  const auto size = static_cast<NodeId>(nodes_.size());
  FrameId frames = 1;
  for (const Node& node : nodes_) frames = std::max(frames, node.frame + 1);

  // A node's link goes to its parent until all are here, then along the list of its parent's
  // children, and then along one of Siblings.
  LargeVector<NodeId> first(size, kNoNode);
  for (NodeId id = size; id-- > 1;) nodes_[id].link = std::exchange(first[nodes_[id].link], id);

  // An entry of `first` is not used again when its node is merged: the new id takes its place.
  LargeVector<NodeId>& node_of = first;
  LargeVector<StackTree::Node> tree;
  tree.reserve(size);
  Siblings siblings(frames, nodes_);
  struct Step {
    NodeId head;  // of a list of equal nodes
    NodeId parent;
  };
  std::vector<Step> todo{{kNoNode, kNoNode}};
  while (!todo.empty()) {
    const Step step = todo.back();
    todo.pop_back();
    const auto merged = static_cast<NodeId>(tree.size());
    tree.push_back({step.parent, nodes_[step.head].frame, 0});
    siblings.begin(merged);
    NodeId node = step.head;
    do {
      for (NodeId child = std::exchange(first[node], merged); child != kNoNode;) {
        const NodeId following = nodes_[child].link;
        siblings.add(child);
        child = following;
      }
      node = nodes_[node].link;
    } while (node != kNoNode);
    const std::vector<NodeId>& heads = siblings.heads();
    for (auto head = heads.rbegin(); head != heads.rend(); ++head) todo.push_back({*head, merged});
  }
  release(nodes_);
  return {StackTree(std::move(tree)), std::move(node_of)};
}

}  // namespace ringside::profile
