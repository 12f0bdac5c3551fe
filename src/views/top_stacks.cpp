#include "views/top_stacks.h"

#include <algorithm>

namespace ringside::views {

std::vector<TopStack> make_top_stacks(const profile::Profile& profile, std::size_t count) {
  std::vector<std::uint64_t> weights(profile.stacks.size(), 0);  // by leaf
  std::uint64_t total = 0;
  for (const profile::SampleGroup& group : profile.samples) {
    if (group.disposition != wire::Disposition::kSampled) continue;
    weights[group.stack] += group.weight;
    total += group.weight;
  }
  std::vector<TopStack> stacks;
  for (profile::NodeId leaf = 0; leaf < weights.size(); ++leaf) {
    if (weights[leaf] == 0) continue;
    TopStack stack;
    stack.frames = profile.stacks.frames_of(leaf);
    std::reverse(stack.frames.begin(), stack.frames.end());
    stack.weight = weights[leaf];
    stack.share = static_cast<double>(weights[leaf]) / static_cast<double>(total);
    stacks.push_back(std::move(stack));
  }
  // Equally heavy stacks by their names, so that two runs of the same guest print the same.
  const auto heavier = [&](const TopStack& a, const TopStack& b) {
    if (a.weight != b.weight) return a.weight > b.weight;
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
