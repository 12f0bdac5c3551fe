#include "annotation/leaf_sums.h"

#include <map>
#include <span>
#include <utility>
#include <vector>

namespace ringside::annotation {
namespace {

class GroupSums final : public profile::SampleReceiver {
 public:
  explicit GroupSums(std::size_t groups) : sums(groups) {}
  void sample(const profile::TimedSample& sample) override {
    sums[sample.group].add({sample.values.empty() ? 0 : sample.values.front(), 1});
  }
  std::vector<Sum> sums;  // by group
};

using Entries = std::span<const profile::StackEntry>;

// Importers record functions that are inlined as frames of their own, in front of the frame of the
// function that was compiled there. All of these.
Entries innermost(profile::DetailedProfile& profile, Entries stack) {
  std::size_t count = 1;
  const auto is_inlined = [&](const profile::StackEntry& entry) {
    return profile.profile().frames[profile.frame(entry).functions.front()].inlined;
  };
  while (count < stack.size() && is_inlined(stack[count - 1])) ++count;
  return stack.first(count);
}

Leaf leaf_of(profile::DetailedProfile& profile, Entries entries) {
  Leaf leaf;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const profile::DetailedFrame frame = profile.frame(*entry);
    if (leaf.functions.empty()) {
      leaf.address = frame.lookup_address();
      leaf.kind = frame.kind;
      leaf.image = frame.image;
      leaf.symbol = frame.symbol;
    }
    for (const profile::FrameId id : frame.functions)
      leaf.functions.push_back(
          profile.profile().functions[profile.profile().frames[id].function].name);
    leaf.place = frame.place(frame.functions.size() - 1);
  }
  return leaf;
}

}  // namespace

Result<LeafSums> sum_leaves(profile::DetailedProfile& profile) {
  GroupSums groups(profile.group_count());
  RINGSIDE_TRY(profile.for_each(groups));
  LeafSums result;
  using Key = std::pair<std::vector<std::uint32_t>, bool>;
  std::map<Key, std::size_t> places;  // in result.leaves, by frames
  for (std::uint32_t group = 0; group < groups.sums.size(); ++group) {
    const Sum& sum = groups.sums[group];
    if (sum.samples == 0) continue;
    const auto stack = profile.stack_of(group);
    if (stack.empty()) continue;
    const Entries leaf = innermost(profile, stack);
    Key key{{}, leaf.front().knows_mappings};
    for (const profile::StackEntry& entry : leaf) key.first.push_back(entry.frame);
    const auto [place, added] = places.try_emplace(std::move(key), result.leaves.size());
    if (added) result.leaves.push_back(leaf_of(profile, leaf));
    result.leaves[place->second].sum.add(sum);
    result.total.add(sum);
    result.extent += profile::extent_of(sum.weight);
  }
  return result;
}

std::set<profile::StringId> caller_names(profile::DetailedProfile& profile) {
  std::set<profile::StringId> names;
  std::set<std::uint32_t> seen;  // recorded frames
  for (std::uint32_t group = 0; group < profile.group_count(); ++group) {
    if (!profile.has_group(group)) continue;
    const Entries stack = profile.stack_of(group);
    for (std::size_t i = 1; i < stack.size(); ++i) {
      if (!seen.insert(stack[i].frame).second) continue;
      for (const profile::FrameId id : profile.frame(stack[i]).functions)
        names.insert(profile.profile().functions[profile.profile().frames[id].function].name);
    }
  }
  return names;
}

}  // namespace ringside::annotation
