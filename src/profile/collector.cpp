#include "profile/collector.h"

#include <algorithm>
#include <limits>

#include "base/figures.h"
#include "base/release.h"
#include "elf/image_map.h"
#include "profile/sanitize.h"
#include "recording/of_perf.h"

namespace ringside::profile {
namespace {

constexpr std::size_t kMaxWarnings = 1000;
constexpr std::uint64_t kAtTheEnd = std::numeric_limits<std::uint64_t>::max() - 1;

// perf's name for Linux' idle threads, of which each vCPU has one, all with pid 0.
constexpr std::string_view kLinuxIdleThread = "swapper";

// How many samples each record stands for; null: one.
const std::int64_t* samples_of(const recording::SampleBatch& batch,
                               const SourceChoice::Value& value) {
  if (!value.samples || *value.samples >= batch.values.size()) return nullptr;
  const auto& column = batch.values[*value.samples];
  return column.empty() ? nullptr : column.data();
}

}  // namespace

Collector::Collector(const BuildOptions& options, FrameNamer& namer, Profile& profile)
    : options_(options),
      namer_(namer),
      profile_(profile),
      choice_(options),
      names_(profile.strings) {}

std::size_t Collector::OwnerHash::operator()(const SampleOwner& owner) const {
  std::uint64_t hash =
      mixed(std::uint64_t{owner.pid.value_or(~0u)} << 32 | owner.tid.value_or(~0u));
  hash = mixed(hash ^ owner.span_ns.value_or(0));
  hash = mixed(hash ^ (std::uint64_t{owner.comm} << 32 | owner.cgroup));
  return mixed(hash ^ (std::uint64_t{owner.vcpu.value} << 24 |
                       static_cast<std::uint64_t>(owner.level) << 16 |
                       static_cast<std::uint64_t>(owner.disposition) << 8 |
                       std::uint64_t{owner.knows_mappings}));
}

// But for its time.
bool Collector::wanted(const recording::Context& context) const {
  const Filter& filter = options_.filter;
  if (!filter.vcpus.empty() &&
      std::find(filter.vcpus.begin(), filter.vcpus.end(), context.vcpu) == filter.vcpus.end())
    return false;
  if (context.disposition != wire::Disposition::kSampled) return true;
  if (filter.kernel_only && context.level != PrivilegeLevel::kKernel) return false;
  return !filter.user_only || context.level == PrivilegeLevel::kUser;
}

ThreadNames::Called Collector::called(std::uint64_t time_ns, const recording::Thread& thread) {
  if (!thread.pid) return {};
  ThreadNames::Called called = names_.at(time_ns, *thread.pid, thread.tid);
  if (*thread.pid == 0 && profile_.header.guest_os == "linux") {
    if (idle_thread_ == 0) idle_thread_ = profile_.strings.intern(kLinuxIdleThread);
    called.comm = idle_thread_;
  } else if (called.comm == 0) {
    called.comm = unnamed(thread.tid.value_or(*thread.pid));
  }
  return called;
}

StringId Collector::unnamed(std::uint32_t tid) {
  StringId& name = unnamed_[tid];
  if (name == 0) name = profile_.strings.intern(unnamed_thread(tid));
  return name;
}

StringId Collector::last_name(std::uint32_t pid, std::uint32_t tid) {
  return called(kAtTheEnd, {pid, tid}).comm;
}

std::optional<std::uint64_t> Collector::span_of(std::uint64_t time_ns) {
  if (options_.span_ns == 0 || !options_.filter.has_time(time_ns)) return std::nullopt;
  if (recording::is_of_perf(profile_.header)) time_ns += profile_.header.start_monotonic_ns;
  const std::uint64_t span_ns = time_ns - time_ns % options_.span_ns;
  first_span_ns_ = std::min(first_span_ns_, span_ns);
  last_span_ns_ = std::max(last_span_ns_, span_ns);
  if (!spans_.contains(span_ns)) {
    has_all_spans_ &= spans_.size() < options_.most_spans;
    if (has_all_spans_) spans_.insert(span_ns);
  }
  return has_all_spans_ ? std::optional(span_ns) : std::nullopt;
}

Result<void> Collector::check_spans() const {
  if (has_all_spans_) return {};
  // One more span may be begun by either end.
  const std::uint64_t least_ns = (last_span_ns_ - first_span_ns_ + options_.span_ns) /
                                     std::max<std::size_t>(options_.most_spans - 1, 1) +
                                 1;
  std::uint64_t length_ns = 1;
  while (length_ns < least_ns) length_ns *= 10;
  return fail(ErrorCode::kUsage,
              "samples are in more than {} spans of time: give a longer one, such as "
              "--time-quantum {}",
              format_count(options_.most_spans),
              length_ns >= 1'000'000'000 ? fmt::format("{}s", length_ns / 1'000'000'000)
              : length_ns >= 1'000'000   ? fmt::format("{}ms", length_ns / 1'000'000)
              : length_ns >= 1'000       ? fmt::format("{}us", length_ns / 1'000)
                                         : fmt::format("{}ns", length_ns));
}

OwnerId Collector::owner_of(const recording::Context& context, ThreadNames::Called called,
                            std::uint64_t time_ns) {
  const recording::Thread thread = called.of_many ? recording::Thread() : threads_[context.thread];
  const SampleOwner owner{{context.vcpu, context.level, context.disposition, thread.pid, thread.tid,
                           called.comm, called.cgroup, span_of(time_ns)},
                          context.address_space != 0};
  const auto [it, added] = owner_ids_.try_emplace(owner, static_cast<OwnerId>(owners.size()));
  if (added) owners.push_back(owner);
  return it->second;
}

void Collector::sample_batch(const recording::SampleBatch& batch) {
  const SourceChoice::Value* const value = choice_.take(batch.source, batch.size());
  if (value == nullptr) return;
  const bool has_values = value->index < batch.values.size() && !batch.values[value->index].empty();
  const std::int64_t* const values = has_values ? batch.values[value->index].data() : nullptr;
  const std::int64_t* const samples = samples_of(batch, *value);
  begin_rows(batch.times, *value);
  for (std::size_t row = 0; row < batch.size(); ++row) {
    constexpr std::size_t kAhead = 8;
    if (row + kAhead < batch.size()) __builtin_prefetch(&sums_[batch.contexts[row + kAhead]], 1);
    if (value->is_cpu) profile_.totals.add_time(batch.times[row], batch.pause(row));
    add_row(
        batch.contexts[row], batch.times[row],
        values == nullptr ? value->scale : static_cast<std::uint64_t>(values[row]) * value->scale,
        samples == nullptr ? 1 : std::max<std::uint64_t>(extent_of(samples[row]), 1));
  }
}

void Collector::begin_rows(const std::vector<std::uint64_t>& times,
                           const SourceChoice::Value& value) {
  has_host_time_ = value.has_host_time;
  names_are_settled_ = !has_host_time_ || times.empty() ||
                       *std::min_element(times.begin(), times.end()) >= newest_name_ns_;
}

Collector::ContextSum& Collector::entered(std::uint32_t context, std::uint64_t time_ns) {
  ContextSum& sum = sums_[context];
  // A context's group is found again for each sample where names have changed in between, or where
  // it is of a span of time.
  if (sum.answer != answers_ || !names_are_settled_) {
    enter(context, time_ns);
    sum.answer = names_are_settled_ && options_.span_ns == 0 ? answers_ : 0;
  }
  return sum;
}

// By another clock it is not known when: the thread has its last name.
std::uint64_t Collector::host_time(std::uint64_t time) const {
  return has_host_time_ ? time : kAtTheEnd;
}

std::uint32_t Collector::group_of(std::uint32_t context, std::uint64_t time) {
  const std::uint64_t time_ns = host_time(time);
  static_cast<void>(entered(context, time_ns));
  return options_.filter.has_time(time_ns) ? context_groups_[context] : kNoGroup;
}

void Collector::add_row(std::uint32_t context, std::uint64_t time, std::uint64_t weight,
                        std::uint64_t samples) {
  const std::uint64_t time_ns = host_time(time);
  ContextSum& sum = entered(context, time_ns);
  if (!options_.filter.has_time(time_ns)) return leave_out(context, samples, weight);
  if (samples > std::numeric_limits<std::uint32_t>::max() - sum.samples)
    return add_to_group(context, samples, weight);
  sum.weight += weight;
  sum.samples += static_cast<std::uint32_t>(samples);
}

std::span<const recording::StackRef> Collector::own_stacks(const recording::Context& context) {
  stacks_.clear();
  for (std::uint32_t list = context.stacks; list != 0; list = lists_[list].rest)
    if (lists_[list].stack.role == recording::StackRole::kOwn)
      stacks_.push_back(lists_[list].stack);
  return stacks_;
}

void Collector::enter(std::uint32_t id, std::uint64_t time_ns) {
  settle(id);
  const recording::Context& context = contexts_[id];
  const ThreadNames::Called called = this->called(time_ns, threads_[context.thread]);
  note_owner(context, called.comm);
  context_groups_[id] = kNoGroup;
  if (!wanted(context)) return;
  const std::span<const recording::StackRef> stacks = own_stacks(context);
  std::uint32_t base = 0;
  for (std::size_t part = stacks.size(); part-- > 1;) base = bases.add(base, stacks[part].node);
  const std::uint32_t part = stacks.empty() ? 0 : stacks.front().node;
  context_groups_[id] = groups.find_or_add({owner_of(context, called, time_ns), base, part});
}

void Collector::settle(std::uint32_t id) {
  ContextSum& sum = sums_[id];
  if (sum.samples == 0) return;
  add_to_group(id, sum.samples, sum.weight);
  sum.samples = 0;
  sum.weight = 0;
}

void Collector::add_to_group(std::uint32_t id, std::uint64_t samples, std::uint64_t weight) {
  if (context_groups_[id] == kNoGroup) return leave_out(id, samples, weight);
  count(id, samples, weight);
  CollectedGroup& group = groups[context_groups_[id]];
  group.samples += samples;
  group.weight += weight;
}

void Collector::leave_out(std::uint32_t id, std::uint64_t samples, std::uint64_t weight) {
  count(id, samples, weight);
  profile_.filtered_samples += samples;
  if (contexts_[id].disposition == wire::Disposition::kSampled)
    profile_.filtered_sampled += samples;
  profile_.filtered_weight += weight;
}

void Collector::count(std::uint32_t id, std::uint64_t samples, std::uint64_t weight) {
  const recording::Context& context = contexts_[id];
  const std::span<const recording::StackRef> stacks = own_stacks(context);
  profile_.totals.add_outcome(context, stacks, samples, weight);
  add_broken(context, stacks, samples);
}

Result<void> Collector::finish() {
  add_counters();
  RINGSIDE_TRY(check_spans());
  for (std::uint32_t id = 1; id < sums_.size(); ++id) {
    constexpr std::uint32_t kAhead = 8;
    if (id + kAhead < sums_.size()) __builtin_prefetch(&lists_[contexts_[id + kAhead].stacks]);
    settle(id);
  }
  release(sums_);
  release(context_groups_);
  release(contexts_);
  release(lists_);
  for (const auto& [source, statistics] : statistics_) {
    if (!choice_.is_chosen(source)) continue;
    if (!profile_.recorded)
      profile_.recorded = statistics;
    else
      *profile_.recorded += statistics;
  }
  return choice_.finish(profile_);
}

void Collector::note_owner(const recording::Context& context, StringId comm) {
  const std::optional<std::uint32_t>& pid = threads_[context.thread].pid;
  profile_.knows_processes |= pid.has_value();
  if (context.disposition != wire::Disposition::kSampled) return;
  if (comm >= is_noted_.size()) is_noted_.resize(profile_.strings.size());
  if (comm != 0 && !is_noted_[comm]) {
    is_noted_[comm] = true;
    profile_.process_names.emplace(profile_.strings[comm]);
  }
  if (!is_lone_) return;
  if (!lone_pid_ && pid) {
    lone_pid_ = pid;
    ++answers_;  // later samples without a process are of another one
  }
  is_lone_ =
      lone_pid_ == pid && (!lone_pid_ || recording::is_unnamed_process(profile_.strings[comm]));
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

void Collector::add_broken(const recording::Context& context,
                           std::span<const recording::StackRef> stacks, std::uint64_t samples) {
  if (context.disposition != wire::Disposition::kSampled) return;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const recording::StackRef& ref = stacks[i];
    if (is_complete(ref.stop) || ref.node == recording::kLostStack) continue;
    const std::uint32_t stop = static_cast<std::uint32_t>(ref.stop) << 1 |
                               std::uint32_t{recording::is_user_part(context.level, i)};
    const std::uint32_t id = broken_.intern(ref.node, stop);
    if (id == broken_samples_.size()) broken_samples_.push_back(0);
    broken_samples_[id] += samples;
  }
}

std::vector<Collector::BrokenPart> Collector::broken_parts() const {
  if (broken_.size() == 0) return {};
  const std::set<std::uint32_t> with_tables = images_with_tables();
  const auto has_file = [this](std::uint32_t id) {
    const auto image = images.find(id);
    return image != images.end() && !image->second.path.empty();
  };
  // Parts of a kernel, such as modules and trampolines, have none of their own.
  const bool has_kernel_file = std::any_of(images.begin(), images.end(), [&](const auto& image) {
    return image.second.name == elf::kKernelImage && has_file(image.first);
  });
  std::vector<BrokenPart> parts;
  for (std::size_t id = 0; id < broken_.size(); ++id) {
    const std::uint32_t frame = outermost_frame(broken_.first(id));
    const bool is_user = (broken_.second(id) & 1) != 0;
    parts.push_back({frame, is_user, static_cast<StopReason>(broken_.second(id) >> 1),
                     with_tables.count(frames[frame].image) != 0,
                     is_user ? has_file(frames[frame].image) : has_kernel_file,
                     broken_samples_[id]});
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
  std::size_t epoch = 0;
  for (std::size_t i = 1; i < frames.size(); ++i) {
    while (epoch < epochs_.size() && i >= epochs_[epoch]) ++epoch;
    kernels_.place(frames[i], epoch);
  }
}

void Collector::left_out(std::string_view text) { profile_.left_out.emplace_back(text); }

void Collector::warning(std::string_view text) {
  if (profile_.warnings.size() < kMaxWarnings) profile_.warnings.emplace_back(text);
}

}  // namespace ringside::profile
