#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringside::importers::callgrind {

// The edges that leave each node of a graph, or that come to it: numbers of edges by node.
class Adjacency {
 public:
  // `node_of[e]` is the node of edge `e`; kNone for edges that do not count.
  static constexpr std::uint32_t kNone = 0xffffffff;
  Adjacency(std::size_t nodes, std::span<const std::uint32_t> node_of);
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t node) const {
    return std::span(edges_).subspan(begin_[node], begin_[node + 1] - begin_[node]);
  }

 private:
  std::vector<std::uint32_t> begin_;  // by node, in edges_
  std::vector<std::uint32_t> edges_;
};

// The strongly connected components of a graph: the sets of nodes that each lead to each other.
// They are numbered so that edges between two of them lead to the lower number.
struct Components {
  std::vector<std::uint32_t> of;     // by node
  std::vector<std::uint32_t> begin;  // by component, in `nodes`; one more than there are
  std::vector<std::uint32_t> nodes;

  [[nodiscard]] std::size_t count() const { return begin.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> members(std::size_t component) const {
    return std::span(nodes).subspan(begin[component], begin[component + 1] - begin[component]);
  }
};
// `target[e]` is the node that edge `e` leads to. Takes time for each node and edge (Tarjan's
// algorithm, without recursion).
[[nodiscard]] Components components_of(std::size_t nodes, const Adjacency& out,
                                       std::span<const std::uint32_t> target);

}  // namespace ringside::importers::callgrind
