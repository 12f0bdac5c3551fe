#include "profile/group_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/release.h"
#include "profile/adopt_stacks.h"
#include "profile/sanitize.h"

namespace ringside::profile {
namespace {

template <class T>
bool is_listed(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Whether samples are of the processes and threads that the filter wants.
bool is_wanted(const Filter& filter, const Owner& owner, const Profile& profile) {
  const auto number_is_wanted = [](const auto& list, const auto& number) {
    return list.empty() || (number && is_listed(list, *number));
  };
  return number_is_wanted(filter.pids, owner.pid) && number_is_wanted(filter.tids, owner.tid) &&
         (filter.comms.empty() ||
          is_listed(filter.comms, std::string(profile.strings[owner.comm])));
}

}  // namespace

GroupBuilder::GroupBuilder(Collector& collected, FrameTable& frames, const BuildOptions& options,
                           std::uint64_t most_nodes, Profile& profile)
    : collected_(collected),
      frames_(frames),
      options_(options),
      most_nodes_(most_nodes),
      profile_(profile) {
  for (auto& chosen : chosen_) chosen.resize(collected.owners.size());
}

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
    if (placer.is_full())
      profile_.left_out.push_back(
          fmt::format("stacks beyond {} frames in all are left out: no recording of this size has "
                      "as many",
                      most_nodes_));
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
  const OwnerChoice owner = owner_of(collected.key.owner, is_interrupt);
  if (!owner) {
    profile_.filtered_weight += collected.weight;
    profile_.filtered_samples += group.samples;
    return;
  }
  group.owner = *owner;
  if (sampled)
    stacks_.push_back({static_cast<std::uint32_t>(profile_.samples.size()), collected.key.base,
                       collected.key.part, of.knows_mappings, is_interrupt});
  profile_.samples.push_back(group);
}

// Every sum of weights is one that a Weight can be: beyond that groups weigh nothing.
Weight GroupBuilder::bounded(Weight weight) {
  const std::uint64_t extent = extent_of(weight);
  if (extent <= extent_left_) {
    extent_left_ -= extent;
    return weight;
  }
  if (!std::exchange(said_heavy_, true))
    profile_.left_out.emplace_back(
        "the weight of some samples is left out: no recording's weights add up to 2^63");
  return 0;
}

// The owner of an interrupt that is charged to nobody.
Owner GroupBuilder::nobody(const Owner& interrupted) {
  Owner owner;
  owner.vcpu = interrupted.vcpu;
  owner.level = interrupted.level;
  if (profile_.knows_processes) owner.comm = profile_.strings.intern(kInterruptName);
  return owner;
}

GroupBuilder::OwnerChoice GroupBuilder::owner_of(std::uint32_t recorded, bool is_interrupt) {
  std::optional<OwnerChoice>& chosen = chosen_[is_interrupt ? 1 : 0][recorded];
  if (!chosen) chosen = choose_owner(collected_.owners[recorded], is_interrupt);
  return *chosen;
}

GroupBuilder::OwnerChoice GroupBuilder::choose_owner(const Collector::SampleOwner& of,
                                                     bool is_interrupt) {
  Owner owner = of;
  if (is_interrupt) owner = nobody(of);
  if (owner.comm == 0 && profile_.knows_processes)
    owner.comm = profile_.strings.intern(kNobodyName);
  if (of.disposition == wire::Disposition::kSampled && !is_wanted(options_.filter, owner, profile_))
    return std::nullopt;
  const auto [it, added] =
      owner_ids_.try_emplace(owner, static_cast<OwnerId>(profile_.owners.size()));
  if (added) profile_.owners.push_back(owner);
  return it->second;
}

}  // namespace ringside::profile
