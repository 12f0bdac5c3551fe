#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ringside::profile {

using FunctionId = std::uint32_t;
using FrameId = std::uint32_t;
using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0;

// All stacks as one tree, root first. Node 0 stands for "no frame": the parent of every root. A
// parent's id is below its children's.
class StackTree {
 public:
  struct Node {
    NodeId parent = kNoNode;
    FrameId frame = 0;
  };

  // The node of `frame` called by `parent`, made if it is not there yet.
  NodeId child(NodeId parent, FrameId frame) {
    const std::uint64_t key = std::uint64_t{parent} << 32 | frame;
    const auto [it, added] = children_.try_emplace(key, static_cast<NodeId>(nodes_.size()));
    if (added) nodes_.push_back({parent, frame});
    return it->second;
  }
  [[nodiscard]] const Node& operator[](NodeId id) const { return nodes_[id]; }
  // Nodes, node 0 included.
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  // The frames of a stack, root first.
  [[nodiscard]] std::vector<FrameId> frames_of(NodeId leaf) const {
    std::vector<FrameId> frames;
    for (NodeId id = leaf; id != kNoNode; id = nodes_[id].parent)
      frames.push_back(nodes_[id].frame);
    return {frames.rbegin(), frames.rend()};
  }

 private:
  std::vector<Node> nodes_{Node{}};
  std::unordered_map<std::uint64_t, NodeId> children_;
};

}  // namespace ringside::profile
