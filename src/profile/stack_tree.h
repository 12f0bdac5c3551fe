#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/large_vector.h"

namespace ringside::profile {

using FunctionId = std::uint32_t;
using FrameId = std::uint32_t;
using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0;

// All stacks as one tree, root first. Node 0 stands for "no frame": the parent of every root. Nodes
// are in preorder, so the nodes below one are the ids up to its `end`. No two children of a node
// have the same frame.
class StackTree {
 public:
  struct Node {
    NodeId parent = kNoNode;
    FrameId frame = 0;
    NodeId end = 1;  // behind the last node below this one
  };

  StackTree() = default;
  // `nodes` in preorder, node 0 included; their `end` is computed here.
  explicit StackTree(LargeVector<Node> nodes) : nodes_(std::move(nodes)) {
    for (NodeId id = size(); id-- > 0;) {
      Node& node = nodes_[id];
      if (node.end <= id) node.end = id + 1;
      if (id != kNoNode && nodes_[node.parent].end < node.end) nodes_[node.parent].end = node.end;
    }
  }

  [[nodiscard]] const Node& operator[](NodeId id) const { return nodes_[id]; }
  // Nodes, node 0 included.
  [[nodiscard]] NodeId size() const { return static_cast<NodeId>(nodes_.size()); }

  // The frames of a stack, root first.
  [[nodiscard]] std::vector<FrameId> frames_of(NodeId leaf) const {
    std::vector<FrameId> frames;
    for (NodeId id = leaf; id != kNoNode; id = nodes_[id].parent)
      frames.push_back(nodes_[id].frame);
    return {frames.rbegin(), frames.rend()};
  }

 private:
  LargeVector<Node> nodes_{Node{}};
};

}  // namespace ringside::profile
