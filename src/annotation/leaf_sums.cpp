#include "annotation/leaf_sums.h"

#include <map>

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

Leaf leaf_of(profile::DetailedProfile& profile, const profile::StackEntry& entry) {
  const profile::DetailedFrame frame = profile.frame(entry);
  Leaf leaf;
  leaf.address = frame.lookup_address();
  leaf.kind = frame.kind;
  leaf.image = frame.image;
  leaf.symbol = frame.symbol;
  for (const profile::FrameId id : frame.functions)
    leaf.functions.push_back(
        profile.profile().functions[profile.profile().frames[id].function].name);
  leaf.place = frame.place(frame.functions.size() - 1);
  return leaf;
}

}  // namespace

Result<LeafSums> sum_leaves(profile::DetailedProfile& profile) {
  GroupSums groups(profile.group_count());
  RINGSIDE_TRY(profile.for_each(groups));
  LeafSums result;
  std::map<std::pair<std::uint32_t, bool>, std::size_t> places;  // in result.leaves
  for (std::uint32_t group = 0; group < groups.sums.size(); ++group) {
    const Sum& sum = groups.sums[group];
    if (sum.samples == 0) continue;
    const auto stack = profile.stack_of(group);
    if (stack.empty()) continue;
    const profile::StackEntry& leaf = stack.front();
    const auto [place, added] =
        places.try_emplace({leaf.frame, leaf.knows_mappings}, result.leaves.size());
    if (added) result.leaves.push_back(leaf_of(profile, leaf));
    result.leaves[place->second].sum.add(sum);
    result.total.add(sum);
    result.extent += profile::extent_of(sum.weight);
  }
  return result;
}

}  // namespace ringside::annotation
