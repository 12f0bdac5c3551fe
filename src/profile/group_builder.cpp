#include "profile/group_builder.h"

#include <utility>

#include "base/release.h"
#include "profile/adopt_stacks.h"
#include "profile/stack_bounds.h"

namespace ringside::profile {

GroupBuilder::GroupBuilder(Collector& collected, FrameTable& frames, const BuildOptions& options,
                           std::uint64_t most_nodes, Profile& profile)
    : collected_(collected),
      frames_(frames),
      options_(options),
      most_nodes_(most_nodes),
      profile_(profile),
      owners_(collected, options.filter, profile) {}

void GroupBuilder::build() {
  StackForest forest;
  {
    StackPlacer placer(collected_, frames_, most_nodes_);
    profile_.samples.reserve(collected_.groups.size());
    for (const CollectedGroup& group : collected_.groups)
      if (group.samples > 0) add(group, placer);
    collected_.groups = GroupTable();
    placer.place(std::move(stacks_), profile_.samples);
    profile_.unique_stacks = placer.distinct();
    if (placer.is_full()) profile_.left_out.push_back(beyond_nodes(most_nodes_));
    forest = std::move(placer).take();
  }
  release(collected_.nodes);
  adopt_stacks(std::move(forest), profile_);
}

void GroupBuilder::add(const CollectedGroup& collected, StackPlacer& placer) {
  const Collector::SampleOwner& of = collected_.owners[collected.key.owner];
  SampleGroup group;
  group.weight = bounded(static_cast<Weight>(collected.weight));
  group.samples = collected.samples;
  const bool sampled = of.disposition == wire::Disposition::kSampled;
  if (sampled && !options_.join_interrupts) group.stack = placer.interrupt(collected.key.part);
  const bool is_interrupt = group.stack != kNoNode;
  const OwnerChooser::Choice owner = owners_.owner_of(collected.key.owner, is_interrupt);
  if (!owner) {
    profile_.filtered_weight += collected.weight;
    profile_.filtered_samples += group.samples;
    if (sampled) profile_.filtered_sampled += group.samples;
    return;
  }
  group.owner = *owner;
  if (sampled) count_leaf(collected);
  if (sampled)
    stacks_.push_back({static_cast<std::uint32_t>(profile_.samples.size()), collected.key.base,
                       collected.key.part, of.knows_mappings, is_interrupt});
  profile_.samples.push_back(group);
}

void GroupBuilder::count_leaf(const CollectedGroup& collected) {
  if (collected.key.part >= collected_.nodes.size()) return;  // the stack was damaged
  const std::uint32_t leaf = collected_.nodes[collected.key.part].frame;
  if (leaf != 0 && is_kernel(collected_.frames[leaf].kind))
    kernel_leaves_[leaf] += collected.samples;
}

// Every sum of weights is one that a Weight can be: beyond that groups weigh nothing.
Weight GroupBuilder::bounded(Weight weight) {
  const std::uint64_t extent = extent_of(weight);
  if (extent <= extent_left_) {
    extent_left_ -= extent;
    return weight;
  }
  if (!std::exchange(said_heavy_, true)) profile_.left_out.emplace_back(kTooHeavy);
  return 0;
}

}  // namespace ringside::profile
