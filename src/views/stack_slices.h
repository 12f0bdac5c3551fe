#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace ringside::views {

// The weight of some groups, and the sum of their extents.
struct Amount {
  profile::Weight weight = 0;
  std::uint64_t extent = 0;
  Amount& operator+=(const Amount& other) {
    weight += other.weight;
    extent += other.extent;
    return *this;
  }
};

// Some groups of a profile by stack, with the sums of their weights: the weight of a subtree of
// stacks is the difference of two sums, for the tree is in preorder.
class WeighedStacks {
 public:
  // In ascending order of `stack`.
  void add(profile::NodeId stack, profile::Weight weight) {
    // Up to the first negative weight the extents are the sums.
    if (weight < 0 && extents_.empty()) extents_.assign(sums_.begin(), sums_.end());
    stacks_.push_back(stack);
    sums_.push_back(sums_.back() + weight);
    if (!extents_.empty()) extents_.push_back(extents_.back() + profile::extent_of(weight));
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(stacks_.size()); }
  [[nodiscard]] profile::NodeId stack(std::uint32_t index) const { return stacks_[index]; }
  // The sum over the entries [first, last).
  [[nodiscard]] profile::Weight weight(std::uint32_t first, std::uint32_t last) const {
    return sums_[last] - sums_[first];
  }
  // The same of their extents.
  [[nodiscard]] std::uint64_t extent(std::uint32_t first, std::uint32_t last) const {
    return extents_.empty() ? static_cast<std::uint64_t>(weight(first, last))
                            : extents_[last] - extents_[first];
  }
  [[nodiscard]] Amount amount(std::uint32_t first, std::uint32_t last) const {
    return {weight(first, last), extent(first, last)};
  }
  // The first entry at or behind `from` whose stack is not below `end`.
  [[nodiscard]] std::uint32_t find(std::uint32_t from, profile::NodeId end) const;

 private:
  std::vector<profile::NodeId> stacks_;
  std::vector<profile::Weight> sums_{0};  // before each entry, and behind the last
  std::vector<std::uint64_t> extents_;    // the same; empty where no weight is negative
};

// Entries of WeighedStacks that go through one node of the tree of stacks: all, or some of them.
struct StackSlice {
  profile::NodeId node = profile::kNoNode;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// Parts slices further: outermost caller first, or leaf first. Both begin with all stacks of a set.
class SliceSteps {
 public:
  SliceSteps(const profile::StackTree& tree, bool reverse) : tree_(tree), reverse_(reverse) {}
  // Calls `next(StackSlice)` for each slice that one of all stacks is parted into.
  template <class Next>
  void begin(const WeighedStacks& stacks, Next&& next) const {
    if (!reverse_) return (void)part({profile::kNoNode, 0, stacks.size()}, stacks, next);
    for (std::uint32_t first = 0; first < stacks.size();) {
      const std::uint32_t last = stacks.find(first, stacks.stack(first) + 1);
      next(StackSlice{stacks.stack(first), first, last});
      first = last;
    }
  }
  // The same for what comes behind a slice's node. Returns the weight that ends at the node.
  template <class Next>
  profile::Weight behind(const StackSlice& slice, const WeighedStacks& stacks, Next&& next) const {
    if (!reverse_) return part(slice, stacks, next);
    const profile::NodeId caller = tree_[slice.node].parent;
    if (caller == profile::kNoNode) return stacks.weight(slice.first, slice.last);
    next(StackSlice{caller, slice.first, slice.last});
    return 0;
  }

 private:
  template <class Next>
  profile::Weight part(const StackSlice& slice, const WeighedStacks& stacks, Next&& next) const {
    const std::uint32_t below = std::min(stacks.find(slice.first, slice.node + 1), slice.last);
    profile::NodeId child = slice.node + 1;
    for (std::uint32_t at = below; at < slice.last;) {
      child = child_above(stacks.stack(at), slice.node, child);
      const std::uint32_t last = std::min(stacks.find(at, tree_[child].end), slice.last);
      next(StackSlice{child, at, last});
      at = last;
    }
    return stacks.weight(slice.first, below);
  }

  // The child of `parent` on the way to `stack`, not before `from`.
  [[nodiscard]] profile::NodeId child_above(profile::NodeId stack, profile::NodeId parent,
                                            profile::NodeId from) const;

  const profile::StackTree& tree_;
  bool reverse_;
};

}  // namespace ringside::views
