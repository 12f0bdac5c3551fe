#include "views/top_stacks.h"

#include <algorithm>
#include <map>

namespace ringside::views {

std::vector<TopStack> make_top_stacks(const profile::Profile& profile, std::size_t count) {
  std::map<std::pair<profile::NodeId, profile::StringId>, profile::Weight>
      weights;  // leaf and comm
  std::uint64_t total = 0;
  for (const profile::SampleGroup& group : profile.samples) {
    if (!profile.is_sampled(group)) continue;
    weights[{group.stack, profile.owner_of(group).comm}] += group.weight;
    total += profile::extent_of(group.weight);
  }
  std::vector<TopStack> stacks;
  for (const auto& [of, weight] : weights) {
    if (weight == 0) continue;
    TopStack stack;
    stack.frames = profile.stacks.frames_of(of.first);
    stack.comm = of.second;
    std::reverse(stack.frames.begin(), stack.frames.end());
    stack.weight = weight;
    stack.share = static_cast<double>(weight) / static_cast<double>(total);
    stacks.push_back(std::move(stack));
  }
  // Equally heavy stacks by their names, so that two runs of the same guest print the same.
  const auto heavier = [&](const TopStack& a, const TopStack& b) {
    if (a.weight != b.weight)
      return std::pair(profile::extent_of(a.weight), a.weight) >
             std::pair(profile::extent_of(b.weight), b.weight);
    if (a.comm != b.comm) return profile.strings[a.comm] < profile.strings[b.comm];
    return std::lexicographical_compare(
        a.frames.begin(), a.frames.end(), b.frames.begin(), b.frames.end(),
        [&](profile::FrameId x, profile::FrameId y) { return profile.name(x) < profile.name(y); });
  };
  const auto middle = stacks.begin() + static_cast<std::ptrdiff_t>(std::min(count, stacks.size()));
  std::partial_sort(stacks.begin(), middle, stacks.end(), heavier);
  stacks.erase(middle, stacks.end());
  return stacks;
}

}  // namespace ringside::views
