#include "views/comparison/call_tree_change.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace ringside::views {
namespace {

constexpr double kTowerExtent = 1e12;
constexpr double kWholeExtent = 2 * kTowerExtent;

double share_of(const CallTree& tree, profile::Weight weight) {
  const double whole = static_cast<double>(tree.root().extent);
  return whole == 0 ? 0 : static_cast<double>(weight) / whole;
}

// By node of `tree`: the share in `other` of the node with the same callers.
std::vector<double> shares_in(const CallTree& tree, const CallTree& other) {
  std::vector<double> shares(tree.nodes.size(), 0.0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> todo = {{0, 0}};
  const auto key = [](const CallTree::Node& node) { return std::tie(node.name, node.kind); };
  while (!todo.empty()) {
    const auto [here, there] = todo.back();
    todo.pop_back();
    shares[here] = share_of(other, other.nodes[there].total);
    // Children are in order of name and kind.
    std::uint32_t child = there + 1;
    for (const std::uint32_t mine : tree.children(here)) {
      while (child < other.nodes[there].end && key(other.nodes[child]) < key(tree.nodes[mine]))
        child = other.nodes[child].end;
      if (child < other.nodes[there].end && key(other.nodes[child]) == key(tree.nodes[mine]))
        todo.emplace_back(mine, child);
    }
  }
  return shares;
}

double noise_of(const profile::Profile& before, const profile::Profile& after) {
  double variance = 0;
  for (const profile::Profile* const profile : {&before, &after}) {
    std::uint64_t samples = 0;
    for (const profile::SampleGroup& group : profile->samples)
      if (profile->is_sampled(group)) samples += group.samples;
    if (samples != 0) variance += 0.25 / static_cast<double>(samples);
  }
  return 3 * std::sqrt(variance);
}

class TowerWriter {
 public:
  TowerWriter(double minimum_share, CallTreeChange& change)
      : minimum_(minimum_share * kWholeExtent), change_(change) {}

  // `is_after`: the tower is of the profile after the change, `others` are shares before it.
  void write(const CallTree& tree, const std::vector<double>& others, bool is_after,
             const std::string& name) {
    std::vector<std::uint32_t> path;  // of the nodes that are written, by depth in `tree`
    for (std::uint32_t index = 0; index < tree.nodes.size();) {
      const CallTree::Node& node = tree.nodes[index];
      const std::uint64_t extent = scaled(tree, node.extent);
      if (index != 0 && static_cast<double>(extent) < minimum_) {
        change_.tree.nodes[path[node.depth - 1]].hidden += static_cast<profile::Weight>(extent);
        change_.tree.hidden += extent;
        index = node.end;
        continue;
      }
      path.resize(node.depth);
      path.push_back(static_cast<std::uint32_t>(change_.tree.nodes.size()));
      write_node(node, extent, index == 0 ? name : std::string());
      const double own = share_of(tree, node.total);
      change_.shares.push_back(is_after ? CallTreeChange::Shares{others[index], own}
                                        : CallTreeChange::Shares{own, others[index]});
      change_.greatest = std::max(change_.greatest, std::abs(change_.shares.back().change()));
      ++index;
    }
  }

 private:
  [[nodiscard]] static std::uint64_t scaled(const CallTree& tree, std::uint64_t extent) {
    return static_cast<std::uint64_t>(static_cast<double>(extent) /
                                      static_cast<double>(tree.root().extent) * kTowerExtent);
  }

  void write_node(const CallTree::Node& node, std::uint64_t extent, const std::string& name) {
    CallTree& tree = change_.tree;
    CallTree::Node copy = node;
    if (!name.empty())
      copy.name = tree.own_names.emplace_back(name);
    else if (!node.kind)  // the name is the other tree's own
      copy.name = tree.own_names.emplace_back(node.name);
    copy.depth = node.depth + 1;
    copy.extent = extent;
    copy.hidden = 0;
    tree.depth = std::max(tree.depth, copy.depth);
    tree.nodes.push_back(copy);
  }

  double minimum_;
  CallTreeChange& change_;
};

}  // namespace

CallTreeChange compare_call_trees(const profile::Profile& before, const profile::Profile& after,
                                  const CallTreeChangeOptions& options) {
  CallTreeOptions tree_options;
  tree_options.reverse = options.reverse;
  const CallTree old = make_call_tree(before, tree_options);
  const CallTree now = make_call_tree(after, tree_options);
  CallTreeChange change;
  CallTree::Node all;
  all.name = "all";
  change.tree.nodes.push_back(all);
  change.shares.push_back({1, 1});
  TowerWriter writer(options.minimum_share, change);
  for (const bool is_after : {false, true}) {
    const CallTree& tree = is_after ? now : old;
    if (tree.root().extent == 0) continue;
    change.tree.nodes.front().extent += static_cast<std::uint64_t>(kTowerExtent);
    writer.write(tree, shares_in(tree, is_after ? old : now), is_after,
                 is_after ? options.after_name : options.before_name);
  }
  set_ends(change.tree.nodes);
  change.noise = noise_of(before, after);
  return change;
}

}  // namespace ringside::views
