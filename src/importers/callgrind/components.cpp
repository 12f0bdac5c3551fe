#include "importers/callgrind/components.h"

#include <algorithm>

namespace ringside::importers::callgrind {
namespace {

class Search {
 public:
  Search(std::size_t nodes, const Adjacency& out, std::span<const std::uint32_t> target)
      : out_(out), target_(target), index_(nodes, kUnseen), low_(nodes), is_open_(nodes) {
    result_.of.resize(nodes);
    result_.begin.push_back(0);
  }

  Components run() && {
    for (std::uint32_t node = 0; node < index_.size(); ++node)
      if (index_[node] == kUnseen) visit(node);
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t kUnseen = 0xffffffff;
  struct Step {
    std::uint32_t node;
    std::uint32_t next;  // in the node's edges
  };

  void enter(std::uint32_t node) {
    index_[node] = low_[node] = seen_++;
    is_open_[node] = true;
    open_.push_back(node);
    steps_.push_back({node, 0});
  }

  void visit(std::uint32_t root) {
    enter(root);
    while (!steps_.empty()) {
      const std::uint32_t node = steps_.back().node;
      const auto edges = out_.of(node);
      if (steps_.back().next < edges.size()) {
        const std::uint32_t to = target_[edges[steps_.back().next++]];
        if (index_[to] == kUnseen)
          enter(to);
        else if (is_open_[to])
          low_[node] = std::min(low_[node], index_[to]);
        continue;
      }
      steps_.pop_back();
      if (!steps_.empty())
        low_[steps_.back().node] = std::min(low_[steps_.back().node], low_[node]);
      if (low_[node] == index_[node]) close(node);
    }
  }

  // All that is open from `root` on is one component.
  void close(std::uint32_t root) {
    const auto number = static_cast<std::uint32_t>(result_.begin.size() - 1);
    std::uint32_t node = 0;
    do {
      node = open_.back();
      open_.pop_back();
      is_open_[node] = false;
      result_.of[node] = number;
      result_.nodes.push_back(node);
    } while (node != root);
    result_.begin.push_back(static_cast<std::uint32_t>(result_.nodes.size()));
  }

  const Adjacency& out_;
  std::span<const std::uint32_t> target_;
  Components result_;
  std::vector<std::uint32_t> index_;  // in the order of first sight
  std::vector<std::uint32_t> low_;    // the lowest index that is reached
  std::vector<bool> is_open_;         // in no component yet
  std::vector<std::uint32_t> open_;
  std::vector<Step> steps_;
  std::uint32_t seen_ = 0;
};

}  // namespace

Adjacency::Adjacency(std::size_t nodes, std::span<const std::uint32_t> node_of)
    : begin_(nodes + 1) {
  for (const std::uint32_t node : node_of)
    if (node != kNone) ++begin_[node + 1];
  for (std::size_t node = 0; node < nodes; ++node) begin_[node + 1] += begin_[node];
  edges_.resize(begin_[nodes]);
  std::vector<std::uint32_t> at(begin_.begin(), begin_.end() - 1);
  for (std::uint32_t edge = 0; edge < node_of.size(); ++edge)
    if (node_of[edge] != kNone) edges_[at[node_of[edge]]++] = edge;
}

Components components_of(std::size_t nodes, const Adjacency& out,
                         std::span<const std::uint32_t> target) {
  return Search(nodes, out, target).run();
}

}  // namespace ringside::importers::callgrind
