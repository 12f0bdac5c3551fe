#include "views/stack_slices.h"

#include <algorithm>

namespace ringside::views {

// Most subtrees are small: the search widens from `from`.
std::uint32_t WeighedStacks::find(std::uint32_t from, profile::NodeId end) const {
  std::size_t first = from;
  std::size_t step = 1;
  while (first + step < stacks_.size() && stacks_[first + step] < end) {
    first += step;
    step *= 2;
  }
  const auto begin = stacks_.begin();
  const std::size_t last = std::min(first + step, stacks_.size());
  const auto found = std::lower_bound(begin + static_cast<std::ptrdiff_t>(first),
                                      begin + static_cast<std::ptrdiff_t>(last), end);
  return static_cast<std::uint32_t>(found - begin);
}

// It is near mostly. Where a node has many children and few of them are asked for, the way up from
// the stack is shorter.
profile::NodeId SliceSteps::child_above(profile::NodeId stack, profile::NodeId parent,
                                        profile::NodeId from) const {
  constexpr int kNear = 16;
  profile::NodeId child = from;
  for (int i = 0; i < kNear; ++i) {
    if (tree_[child].end > stack) return child;
    child = tree_[child].end;
  }
  child = stack;
  while (tree_[child].parent != parent) child = tree_[child].parent;
  return child;
}

}  // namespace ringside::views
