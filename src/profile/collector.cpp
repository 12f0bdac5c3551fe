#include "profile/collector.h"

#include <algorithm>

#include "profile/sanitize.h"

namespace ringside::profile {
namespace {

constexpr std::size_t kMaxWarnings = 1000;
constexpr std::size_t kMostKernelMappings = 10'000;

// perf's name for Linux' idle threads, of which each vCPU has one, all with pid 0.
constexpr std::string_view kLinuxIdleThread = "swapper";

}  // namespace

Collector::Collector(const BuildOptions& options, FrameNamer& namer, Profile& profile)
    : options_(options), namer_(namer), profile_(profile), names_(profile.strings) {}

std::size_t Collector::OwnerHash::operator()(const SampleOwner& owner) const {
  std::uint64_t hash =
      mixed(std::uint64_t{owner.pid.value_or(~0u)} << 32 | owner.tid.value_or(~0u));
  hash = mixed(hash ^ (std::uint64_t{owner.comm} << 32 | owner.cgroup));
  return mixed(hash ^ (std::uint64_t{owner.vcpu.value} << 24 |
                       static_cast<std::uint64_t>(owner.level) << 16 |
                       static_cast<std::uint64_t>(owner.disposition) << 8 |
                       std::uint64_t{owner.knows_mappings}));
}

bool Collector::wanted(const recording::SampleInfo& info) const {
  const Filter& filter = options_.filter;
  if (info.time_ns < filter.from_ns || info.time_ns >= filter.to_ns) return false;
  if (!filter.vcpus.empty() &&
      std::find(filter.vcpus.begin(), filter.vcpus.end(), info.vcpu) == filter.vcpus.end())
    return false;
  if (info.disposition != wire::Disposition::kSampled) return true;
  if (filter.kernel_only && info.level != PrivilegeLevel::kKernel) return false;
  return !filter.user_only || info.level == PrivilegeLevel::kUser;
}

ThreadNames::Called Collector::called(const recording::SampleInfo& info) {
  if (!info.pid) return {};
  ThreadNames::Called called = names_.at(info.time_ns, *info.pid, info.tid);
  if (*info.pid == 0 && profile_.header.guest_os == "linux") {
    if (idle_thread_ == 0) idle_thread_ = profile_.strings.intern(kLinuxIdleThread);
    called.comm = idle_thread_;
  } else if (called.comm == 0) {
    called.comm = unnamed(info.tid.value_or(*info.pid));
  }
  return called;
}

StringId Collector::unnamed(std::uint32_t tid) {
  StringId& name = unnamed_[tid];
  if (name == 0) name = profile_.strings.intern(unnamed_thread(tid));
  return name;
}

OwnerId Collector::owner_of(const recording::SampleInfo& info, ThreadNames::Called called) {
  const SampleOwner owner{
      {info.vcpu, info.level, info.disposition, info.pid, info.tid, called.comm, called.cgroup},
      info.address_space != 0};
  const auto [it, added] = owner_ids_.try_emplace(owner, static_cast<OwnerId>(owners.size()));
  if (added) owners.push_back(owner);
  return it->second;
}

void Collector::sample(const recording::Sample& value) {
  const recording::SampleInfo& info = value.info;
  if (info.unit != options_.unit) {
    ++profile_.other_unit_samples;
    return;
  }
  profile_.totals.add(value);
  add_broken(value);
  const ThreadNames::Called called = this->called(info);
  note_owner(info, called.comm);
  if (!wanted(info)) {
    profile_.filtered_weight += info.weight;
    ++profile_.filtered_samples;
    return;
  }
  std::uint32_t base = 0;
  for (std::size_t part = value.stacks.size(); part-- > 1;)
    base = bases.add(base, value.stacks[part].node);
  const std::uint32_t part = value.stacks.empty() ? 0 : value.stacks.front().node;
  CollectedGroup& group = groups[groups.find_or_add({owner_of(info, called), base, part})];
  group.weight += info.weight;
  ++group.samples;
}

void Collector::note_owner(const recording::SampleInfo& info, StringId comm) {
  profile_.knows_processes |= info.pid.has_value();
  if (info.disposition != wire::Disposition::kSampled) return;
  if (comm >= is_noted_.size()) is_noted_.resize(profile_.strings.size());
  if (comm != 0 && !is_noted_[comm]) {
    is_noted_[comm] = true;
    profile_.process_names.emplace(profile_.strings[comm]);
  }
  if (!is_lone_) return;
  if (!lone_pid_) lone_pid_ = info.pid;
  is_lone_ = lone_pid_ == info.pid &&
             (!lone_pid_ || recording::is_unnamed_process(profile_.strings[comm]));
}

void Collector::forget_lone_process() {
  if (!lone_pid_ || !is_lone_) return;
  profile_.knows_processes = false;
  for (SampleOwner& owner : owners) {
    owner.pid.reset();
    owner.tid.reset();
    owner.comm = 0;
  }
}

void Collector::add_broken(const recording::Sample& value) {
  if (value.info.disposition != wire::Disposition::kSampled) return;
  for (std::size_t i = 0; i < value.stacks.size(); ++i) {
    const recording::StackRef& ref = value.stacks[i];
    if (is_complete(ref.stop) || ref.node == recording::kLostStack) continue;
    const std::uint32_t stop = static_cast<std::uint32_t>(ref.stop) << 1 |
                               std::uint32_t{recording::is_user_part(value, i)};
    const std::uint32_t id = broken_.intern(ref.node, stop);
    if (id == broken_samples_.size()) broken_samples_.push_back(0);
    ++broken_samples_[id];
  }
}

std::vector<Collector::BrokenPart> Collector::broken_parts() const {
  if (broken_.size() == 0) return {};
  const std::set<std::uint32_t> with_tables = images_with_tables();
  std::vector<BrokenPart> parts;
  for (std::size_t id = 0; id < broken_.size(); ++id) {
    const std::uint32_t frame = outermost_frame(broken_.first(id));
    parts.push_back({frame, (broken_.second(id) & 1) != 0,
                     static_cast<StopReason>(broken_.second(id) >> 1),
                     with_tables.count(frames[frame].image) != 0, broken_samples_[id]});
  }
  return parts;
}

// The images of code whose caller some table of unwind information has reported.
std::set<std::uint32_t> Collector::images_with_tables() const {
  std::set<std::uint32_t> with_tables;
  std::optional<std::uint32_t> last;
  for (const recording::StackNode& node : nodes) {
    const std::uint32_t image = frames[node.frame].image;
    if (node.parent == 0 || image == last) continue;
    const FrameSource rule = frames[nodes[node.parent].frame].source;
    if (rule == FrameSource::kCfi || rule == FrameSource::kOrc)
      last = *with_tables.insert(image).first;
  }
  return with_tables;
}

// 0 where the stack has no frame.
std::uint32_t Collector::outermost_frame(std::uint32_t node) const {
  while (nodes[node].parent != 0) node = nodes[node].parent;
  return nodes[node].frame;
}

void Collector::place_early_frames() {
  const auto is_kernel = [](FrameKind kind) {
    return kind == FrameKind::kKernel || kind == FrameKind::kInterrupt;
  };
  // There are few, but many of processes.
  std::vector<const recording::Mapping*> kernels;
  for (const auto& [id, mapping] : mappings)
    if (mapping.address_space == 0 && kernels.size() < kMostKernelMappings)
      kernels.push_back(&mapping);
  for (recording::RecordedFrame& frame : frames) {
    if (frame.image != 0 || !is_kernel(frame.kind)) continue;
    const recording::Mapping* there = nullptr;
    bool is_certain = true;
    const GuestVirt at = frame.lookup_address();
    for (const recording::Mapping* mapping : kernels) {
      if (at < mapping->start || at >= mapping->end) continue;
      is_certain = there == nullptr || there->image == mapping->image;
      there = mapping;
      if (!is_certain) break;
    }
    if (there == nullptr || !is_certain) continue;
    frame.image = there->image;
    frame.mapping = there->id;
  }
}

void Collector::left_out(std::string_view text) { profile_.left_out.emplace_back(text); }

void Collector::warning(std::string_view text) {
  if (profile_.warnings.size() < kMaxWarnings) profile_.warnings.emplace_back(text);
}

}  // namespace ringside::profile
