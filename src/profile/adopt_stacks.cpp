#include "profile/adopt_stacks.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "base/release.h"

namespace ringside::profile {
namespace {

void merge_equal_groups(std::vector<SampleGroup>& groups) {
  const auto key = [](const SampleGroup& group) {
    return std::tuple(group.stack, group.owner, group.user_part);
  };
  std::sort(groups.begin(), groups.end(),
            [&](const SampleGroup& a, const SampleGroup& b) { return key(a) < key(b); });
  auto out = groups.begin();
  for (auto it = groups.begin(); it != groups.end(); ++it) {
    if (it != groups.begin() && key(*std::prev(out)) == key(*it)) {
      std::prev(out)->weight += it->weight;
      std::prev(out)->samples += it->samples;
    } else {
      *out++ = *it;
    }
  }
  groups.erase(out, groups.end());
}

// Frames over all sampled weight: one walk over the tree, beside the groups.
void count_frames(Profile& profile) {
  struct Open {
    NodeId end;
    std::uint64_t unknown;  // frames from the root to here
  };
  std::vector<Open> path;
  NodeId next = 1;
  for (const SampleGroup& group : profile.samples) {
    if (group.stack == kNoNode || !profile.is_sampled(group)) continue;
    for (; next <= group.stack; ++next) {
      while (!path.empty() && path.back().end <= next) path.pop_back();
      const StackTree::Node& node = profile.stacks[next];
      const bool is_unknown = profile.frames[node.frame].kind == Kind::kUnknown;
      path.push_back({node.end, (path.empty() ? 0 : path.back().unknown) + (is_unknown ? 1 : 0)});
    }
    profile.all_frames += extent_of(group.weight) * path.size();
    profile.unknown_frames += extent_of(group.weight) * path.back().unknown;
  }
}

}  // namespace

void adopt_stacks(StackForest&& forest, Profile& profile) {
  StackForest::Merged merged = std::move(forest).merge();
  profile.stacks = std::move(merged.tree);
  for (SampleGroup& group : profile.samples) {
    group.stack = merged.node_of[group.stack];
    group.user_part = merged.node_of[group.user_part];
  }
  release(merged.node_of);
  merge_equal_groups(profile.samples);
  count_frames(profile);
}

}  // namespace ringside::profile
