#pragma once

#include <cstdint>

#include "base/large_vector.h"
#include "profile/stack_tree.h"

namespace ringside::profile {

// Stacks as they come in. A node is appended without a look-up, so children of one node may have
// the same frame; merge() makes one of them in a single walk from the roots. That needs no hash
// table, whose look-ups at each edge are what a tree of many stacks costs most.
class StackForest {
 public:
  // 8 bytes for each node.
  void reserve(std::size_t nodes) { nodes_.reserve(nodes); }
  // `parent` is a node of this forest, or kNoNode.
  NodeId append(NodeId parent, FrameId frame) {
    nodes_.push_back({parent, frame});
    return static_cast<NodeId>(nodes_.size() - 1);
  }

  struct Merged {
    StackTree tree;
    LargeVector<NodeId> node_of;  // by this forest's ids
  };
  // Children keep the order in which they were appended.
  [[nodiscard]] Merged merge() &&;

 private:
  struct Node {
    NodeId link = kNoNode;  // to the parent
    FrameId frame = 0;
  };
  class Siblings;

  LargeVector<Node> nodes_{Node{}};
};

}  // namespace ringside::profile
