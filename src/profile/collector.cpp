#include "profile/collector.h"

#include <algorithm>

#include "profile/sanitize.h"

namespace ringside::profile {
namespace {

constexpr std::size_t kMaxWarnings = 1000;
constexpr std::size_t kMostKernelMappings = 10'000;

// perf's name for Linux' idle threads, of which each vCPU has one, all with pid 0.
constexpr std::string_view kLinuxIdleThread = "swapper";

std::size_t combine(std::size_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 12) + (hash >> 4);
  return hash * 0xff51afd7ed558ccdULL;
}

}  // namespace

Collector::Collector(const BuildOptions& options, FrameNamer& namer, Profile& profile)
    : options_(options), namer_(namer), profile_(profile), names_(profile.strings) {}

std::size_t Collector::KeyHash::operator()(const Key& key) const {
  std::size_t hash = combine(key.vcpu.value, static_cast<std::uint64_t>(key.level) << 8 |
                                                 static_cast<std::uint64_t>(key.disposition));
  for (const std::uint32_t stack : key.stacks) hash = combine(hash, stack);
  hash = combine(hash, key.cgroup);
  hash = combine(hash, std::uint64_t{key.comm} << 1 | std::uint64_t{key.knows_mappings});
  return combine(hash, std::uint64_t{key.pid.value_or(~0u)} << 32 | key.tid.value_or(~0u));
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
  if (*info.pid == 0 && profile_.header.guest_os == "linux")
    called.comm = profile_.strings.intern(kLinuxIdleThread);
  else if (called.comm == 0)
    called.comm = profile_.strings.intern(unnamed_thread(info.tid.value_or(*info.pid)));
  return called;
}

void Collector::sample(const recording::Sample& value) {
  const recording::SampleInfo& info = value.info;
  if (info.unit != options_.unit) {
    ++profile_.other_unit_samples;
    return;
  }
  profile_.totals.add(value);
  add_broken(value);
  note_owner(info);
  if (!wanted(info)) {
    profile_.filtered_weight += info.weight;
    ++profile_.filtered_samples;
    return;
  }
  key_.stacks.clear();
  for (const recording::StackRef& ref : value.stacks) key_.stacks.push_back(ref.node);
  key_.vcpu = info.vcpu;
  key_.level = info.level;
  key_.disposition = info.disposition;
  key_.pid = info.pid;
  key_.tid = info.tid;
  const ThreadNames::Called called = this->called(info);
  key_.comm = called.comm;
  key_.cgroup = called.cgroup;
  key_.knows_mappings = info.address_space != 0;
  Amount& amount = groups[key_];
  amount.weight += info.weight;
  ++amount.samples;
}

void Collector::note_owner(const recording::SampleInfo& info) {
  profile_.knows_processes |= info.pid.has_value();
  if (info.disposition != wire::Disposition::kSampled) return;
  const StringId comm = called(info).comm;
  if (comm != 0 && noted_comms_.insert(comm).second)
    profile_.process_names.emplace(profile_.strings[comm]);
  if (!is_lone_) return;
  if (!lone_pid_) lone_pid_ = info.pid;
  is_lone_ = lone_pid_ == info.pid &&
             (!lone_pid_ || recording::is_unnamed_process(profile_.strings[comm]));
}

void Collector::forget_lone_process() {
  if (!lone_pid_ || !is_lone_) return;
  profile_.knows_processes = false;
  std::unordered_map<Key, Amount, KeyHash> nobodys;
  for (const auto& [key, amount] : groups) {
    Key nameless = key;
    nameless.pid.reset();
    nameless.tid.reset();
    nameless.comm = 0;
    Amount& sum = nobodys[nameless];
    sum.weight += amount.weight;
    sum.samples += amount.samples;
  }
  groups = std::move(nobodys);
}

void Collector::add_broken(const recording::Sample& value) {
  if (value.info.disposition != wire::Disposition::kSampled) return;
  for (std::size_t i = 0; i < value.stacks.size(); ++i) {
    const recording::StackRef& ref = value.stacks[i];
    if (is_complete(ref.stop) || ref.node == recording::kLostStack) continue;
    ++broken[{recording::is_user_part(value, i), ref.stop, ref.node}];
  }
}

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
