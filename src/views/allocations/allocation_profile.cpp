#include "views/allocations/allocation_profile.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "profile/adopt_stacks.h"
#include "profile/frame_interner.h"
#include "profile/stack_forest.h"
#include "views/allocations/allocation_rows.h"

namespace ringside::views {
namespace {

using profile::FrameId;
using profile::NodeId;
using profile::Profile;

// Appends stacks to a forest. Frames that one has in common with the one before are there already.
class Placer {
 public:
  // Outermost first. Returns the leaf.
  NodeId place(std::span<const FrameId> frames) {
    std::size_t common = 0;
    while (common < std::min(frames.size(), open_.size()) && open_[common].frame == frames[common])
      ++common;
    open_.resize(common);
    for (const FrameId frame : frames.subspan(common))
      open_.push_back(
          {frame, forest_.append(open_.empty() ? profile::kNoNode : open_.back().node, frame)});
    return open_.empty() ? profile::kNoNode : open_.back().node;
  }
  [[nodiscard]] profile::StackForest take() && { return std::move(forest_); }

 private:
  struct Open {
    FrameId frame;
    NodeId node;
  };
  profile::StackForest forest_;
  std::vector<Open> open_;
};

// Gives a profile of its own the frames and owners of a DetailedProfile that it has a use for.
class Copier {
 public:
  Copier(const Profile& from, bool maestro_names, Profile& to)
      : from_(from), to_(to), interner_(to), maestro_names_(maestro_names) {}

  FrameId frame(FrameId id) {
    const auto [known, is_new] = frames_.try_emplace(id);
    if (is_new) known->second = copied(from_.frames[id]);
    return known->second;
  }
  profile::OwnerId owner(profile::OwnerId id) {
    const auto [known, is_new] =
        owners_.try_emplace(id, static_cast<profile::OwnerId>(to_.owners.size()));
    if (is_new) {
      profile::Owner owner = from_.owners[id];
      owner.comm = text(owner.comm);
      owner.cgroup = text(owner.cgroup);
      to_.owners.push_back(owner);
    }
    return known->second;
  }

 private:
  static constexpr std::string_view kMaestroUnknown = "???";

  profile::StringId text(profile::StringId id) { return to_.strings.intern(from_.strings[id]); }

  FrameId copied(const profile::Frame& frame) {
    const profile::Function& function = from_.functions[frame.function];
    const bool is_maestro = maestro_names_ && frame.kind == profile::Kind::kUnknown;
    const FrameId made =
        interner_.intern(is_maestro ? kMaestroUnknown : from_.strings[function.name],
                         is_maestro ? 0 : text(function.image), frame.kind, frame.inlined);
    profile::Function& to = to_.functions[to_.frames[made].function];
    to.file = text(function.file);
    to.first_line = function.first_line;
    to.last_line = function.last_line;
    return made;
  }

  const Profile& from_;
  Profile& to_;
  profile::FrameInterner interner_;
  bool maestro_names_;
  std::map<FrameId, FrameId> frames_;
  std::map<profile::OwnerId, profile::OwnerId> owners_;
};

struct Stack {
  std::vector<FrameId> frames;  // outermost first
  profile::SampleGroup group;
};

std::vector<Stack> stacks_of(profile::DetailedProfile& details, const Allocator& allocator,
                             const AllocationProfileOptions& options, Profile& profile) {
  std::vector<Stack> stacks;
  Copier copier(details.profile(), options.maestro_names, profile);
  for (const LiveSet::Stack& stack : allocator.blocks.stacks()) {
    if (stack.key == kOtherStacks) continue;
    profile::SampleGroup group;
    group.weight = weight_of(stack.sums, options.value, options.measure);
    group.samples = profile::extent_of(weight_of(stack.sums, options.value, BlockMeasure::kCount));
    if (group.weight == 0 && group.samples == 0) continue;
    group.owner = copier.owner(details.owner_id(stack.key));
    stacks.push_back({frames_of(details, stack.key), group});
    for (FrameId& frame : stacks.back().frames) frame = copier.frame(frame);
  }
  std::sort(stacks.begin(), stacks.end(),
            [](const Stack& a, const Stack& b) { return a.frames < b.frames; });
  return stacks;
}

}  // namespace

Profile make_allocation_profile(profile::DetailedProfile& details, const Allocator& allocator,
                                const AllocationProfileOptions& options) {
  Profile profile;
  profile.header = details.profile().header;
  profile.source = allocator.name;
  profile.value = name_of(options.value);
  profile.unit =
      options.measure == BlockMeasure::kCount ? recording::WeightUnit::kCount : allocator.unit;
  profile.is_of_ticks = false;
  profile.knows_processes = details.profile().knows_processes;
  Placer placer;
  for (Stack& stack : stacks_of(details, allocator, options, profile)) {
    stack.group.stack = placer.place(stack.frames);
    profile.totals.weight[0] += static_cast<std::uint64_t>(stack.group.weight);
    profile.totals.count[0] += stack.group.samples;
    profile.samples.push_back(stack.group);
  }
  adopt_stacks(std::move(placer).take(), profile);
  return profile;
}

}  // namespace ringside::views
