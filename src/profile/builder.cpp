#include "profile/builder.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/clock.h"
#include "profile/collector.h"
#include "profile/sanitize.h"
#include "profile/stack_namer.h"

namespace ringside::profile {
namespace {

void count_frames(const SampleGroup& group, Profile& profile) {
  for (NodeId id = group.stack; id != kNoNode; id = profile.stacks[id].parent) {
    profile.all_frames += group.weight;
    if (profile.frames[profile.stacks[id].frame].kind == Kind::kUnknown)
      profile.unknown_frames += group.weight;
  }
}

// Two recorded stacks can have the same names: their groups become one.
void merge_equal_groups(std::vector<SampleGroup>& groups) {
  const auto key = [](const SampleGroup& group) {
    return std::tuple(group.vcpu, group.disposition, group.level, group.stack, group.user_part,
                      group.pid, group.tid, group.comm, group.cgroup);
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

template <class T>
bool is_listed(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Whether a sampled group is of the processes and threads that the filter wants.
bool owner_is_wanted(const Filter& filter, const SampleGroup& group, const Profile& profile) {
  const auto number_is_wanted = [](const auto& list, const auto& number) {
    return list.empty() || (number && is_listed(list, *number));
  };
  return number_is_wanted(filter.pids, group.pid) && number_is_wanted(filter.tids, group.tid) &&
         (filter.comms.empty() ||
          is_listed(filter.comms, std::string(profile.strings[group.comm])));
}

// The images of code whose caller some table of unwind information has reported.
std::set<std::uint32_t> images_with_tables(const Collector& collected) {
  std::set<std::uint32_t> images;
  for (const recording::StackNode& node : collected.nodes) {
    if (node.parent == 0) continue;
    const FrameSource rule = collected.frames[collected.nodes[node.parent].frame].source;
    if (rule == FrameSource::kCfi || rule == FrameSource::kOrc)
      images.insert(collected.frames[node.frame].image);
  }
  return images;
}

class GroupBuilder {
 public:
  GroupBuilder(const Collector& collector, FrameNamer& namer, const BuildOptions& options,
               Profile& profile)
      : options_(options), profile_(profile), tree_(collector, namer, options, profile) {}

  void add(const Collector::Key& key, const Collector::Amount& amount) {
    SampleGroup group;
    group.vcpu = key.vcpu;
    group.level = key.level;
    group.disposition = key.disposition;
    group.weight = amount.weight;
    group.samples = amount.samples;
    const bool sampled = key.disposition == wire::Disposition::kSampled;
    if (!sampled || !take_interrupt(key, group)) take_owner(key, group);
    if (sampled) {
      if (!owner_is_wanted(options_.filter, group, profile_)) {
        profile_.filtered_weight += group.weight;
        profile_.filtered_samples += group.samples;
        return;
      }
      if (group.stack == kNoNode) take_stacks(key, group);
      count_frames(group, profile_);
      distinct_.insert(key.stacks);
    }
    profile_.samples.push_back(group);
  }

  // Most samples first.
  [[nodiscard]] std::vector<BrokenEnd> broken_ends(const Collector& collected) {
    const std::set<std::uint32_t> with_tables = images_with_tables(collected);
    std::map<std::tuple<bool, StopReason, std::optional<FunctionId>, bool>, std::uint64_t> sums;
    for (const auto& [key, samples] : collected.broken) {
      const std::uint32_t frame = collected.outermost_frame(key.node);
      const bool has_tables = with_tables.count(collected.frames[frame].image) != 0;
      std::optional<FunctionId> function;
      if (frame != 0) function = tree_.function_of(frame);
      sums[{key.is_user, key.reason, function, has_tables}] += samples;
    }
    std::vector<BrokenEnd> ends;
    for (const auto& [key, samples] : sums) {
      const auto& [is_user, reason, function, has_tables] = key;
      ends.push_back({is_user, reason, function, has_tables, samples});
    }
    std::stable_sort(ends.begin(), ends.end(),
                     [](const BrokenEnd& a, const BrokenEnd& b) { return a.samples > b.samples; });
    return ends;
  }

  [[nodiscard]] std::uint64_t unique_stacks() const { return distinct_.size(); }

 private:
  // True where the group is an interrupt that is to be charged to nobody.
  bool take_interrupt(const Collector::Key& key, SampleGroup& group) {
    if (options_.join_interrupts || key.stacks.empty() ||
        key.stacks.front() == recording::kLostStack)
      return false;
    group.stack = tree_.interrupt(key.stacks.front());
    if (group.stack == kNoNode) return false;
    if (profile_.knows_processes) group.comm = profile_.strings.intern(kInterruptName);
    return true;
  }

  void take_owner(const Collector::Key& key, SampleGroup& group) {
    group.pid = key.pid;
    group.tid = key.tid;
    group.comm = key.comm;
    group.cgroup = key.cgroup;
    if (group.comm == 0 && profile_.knows_processes)
      group.comm = profile_.strings.intern(kNobodyName);
  }

  // The part that ran last stands at the root: user code below the kernel that it entered.
  void take_stacks(const Collector::Key& key, SampleGroup& group) {
    for (auto it = key.stacks.rbegin(); it != key.stacks.rend(); ++it) {
      if (it == std::next(key.stacks.rbegin())) group.user_part = group.stack;
      group.stack = *it == recording::kLostStack
                        ? tree_.placeholder(group.stack, kLostStackName)
                        : tree_.stack(group.stack, *it, key.knows_mappings);
    }
    if (group.stack == kNoNode) group.stack = tree_.placeholder(kNoNode, kNoStackName);
  }

  const BuildOptions& options_;
  Profile& profile_;
  StackNamer tree_;
  std::set<std::vector<std::uint32_t>> distinct_;
};

}  // namespace

Result<Profile> build_profile(recording::Reader& reader, FrameNamer& namer,
                              const BuildOptions& options) {
  Profile profile;
  profile.header = reader.header();
  profile.unit = options.unit;
  profile.damage = reader.damage();
  Collector collector(options, namer, profile);
  RINGSIDE_TRY(reader.for_each(collector));
  collector.forget_lone_process();
  collector.place_early_frames();

  const std::uint64_t start = monotonic_ns();
  GroupBuilder groups(collector, namer, options, profile);
  for (const auto& [key, amount] : collector.groups) groups.add(key, amount);
  profile.unique_stacks = groups.unique_stacks();
  if (profile.filtered_samples == 0) profile.broken_ends = groups.broken_ends(collector);
  merge_equal_groups(profile.samples);
  profile.symbol_ns = monotonic_ns() - start;
  return profile;
}

}  // namespace ringside::profile
