#include "exporters/firefox/thread_plan.h"

#include <map>
#include <optional>

#include "exporters/parts/json_text.h"
#include "profile/sanitize.h"
#include "views/owner.h"

namespace ringside::exporters::firefox {
namespace {

using profile::Owner;
using wire::Disposition;

std::vector<std::uint64_t> samples_by_group(const profile::DetailedProfile& profile,
                                            const SampleRows& rows) {
  std::vector<std::uint64_t> counts(profile.group_count());
  for (const std::uint32_t group : rows.groups) ++counts[group];
  return counts;
}

// A thread may be called differently from time to time.
struct GuestThread {
  std::uint32_t index = 0;
  std::map<profile::StringId, std::uint64_t> samples_by_name;

  [[nodiscard]] std::string name(const profile::Profile& profile) const {
    profile::StringId best = 0;
    std::uint64_t most = 0;
    for (const auto& [name, samples] : samples_by_name)
      if (name != 0 && samples > most) {
        best = name;
        most = samples;
      }
    return std::string(profile.strings[best]);
  }
};
// A process of which the name alone is there is distinguished by that.
struct ProcessId {
  std::optional<std::uint32_t> pid;
  profile::StringId comm = 0;
  auto operator<=>(const ProcessId&) const = default;
};
using ThreadId = std::pair<ProcessId, std::optional<std::uint32_t>>;

ThreadId id_of(const Owner& owner) { return {{owner.pid, owner.pid ? 0 : owner.comm}, owner.tid}; }

using GuestThreads = std::map<ThreadId, GuestThread>;

// A process is called after its main thread, else after the first that is known.
std::map<ProcessId, std::string> process_names(const GuestThreads& threads,
                                               const profile::Profile& all) {
  std::map<ProcessId, std::string> names;
  for (const auto& [id, thread] : threads) {
    const auto& [process, tid] = id;
    std::string& name = names[process];
    const bool is_main = process.pid && tid.value_or(*process.pid) == *process.pid;
    if (name.empty() || is_main)
      if (std::string own = thread.name(all); !own.empty()) name = std::move(own);
  }
  return names;
}

void name_threads(const profile::Profile& all, const GuestThreads& threads, ThreadPlan& plan) {
  const auto processes = process_names(threads, all);
  for (const auto& [id, thread] : threads) {
    const auto& [process, tid] = id;
    const std::optional<std::uint32_t> pid = process.pid;
    ThreadHead& head = plan.threads[thread.index];
    const std::optional<std::uint32_t> number = tid ? tid : pid;
    head.name = thread.name(all);
    if (head.name.empty())
      head.name = number ? profile::unnamed_thread(*number) : std::string(profile::kNobodyName);
    head.process = processes.at(process);
    if (head.process.empty()) head.process = pid ? head.name : std::string(profile::kNobodyName);
    head.pid = pid ? fmt::format("{}", *pid) : process.comm != 0 ? head.process : "unknown";
    head.tid = number ? fmt::format("{}", *number) : "\"unknown\"";
    head.is_main = number == pid;
  }
}

}  // namespace

bool is_sample(const profile::DetailedProfile& profile, std::uint32_t group) {
  return views::is_shown(profile.owner_of(group), true);
}

ThreadPlan plan_vcpus(const profile::DetailedProfile& profile, const SampleRows& rows) {
  const std::vector<std::uint64_t> counts = samples_by_group(profile, rows);
  ThreadPlan plan;
  plan.of_group.resize(counts.size(), RowsByThread::kNoThread);
  std::map<std::uint32_t, std::uint32_t> threads;
  for (std::uint32_t group = 0; group < counts.size(); ++group)
    if (counts[group] != 0 && profile.owner_of(group).vcpu != recording::kNoVcpu)
      threads.try_emplace(profile.owner_of(group).vcpu.value);
  for (auto& [vcpu, index] : threads) {
    index = static_cast<std::uint32_t>(plan.threads.size());
    const std::string name = fmt::format("vCPU {}", vcpu);
    plan.threads.push_back({name, "vCPUs", "vCPUs", json_string(name), false, 0});
  }
  for (std::uint32_t group = 0; group < counts.size(); ++group) {
    if (counts[group] == 0 || profile.owner_of(group).vcpu == recording::kNoVcpu) continue;
    const std::uint32_t index = threads.at(profile.owner_of(group).vcpu.value);
    plan.of_group[group] = index;
    if (is_sample(profile, group)) plan.threads[index].samples += counts[group];
  }
  return plan;
}

ThreadPlan plan_guest(const profile::DetailedProfile& profile, const SampleRows& rows) {
  const std::vector<std::uint64_t> counts = samples_by_group(profile, rows);
  const bool knows_processes = profile.profile().knows_processes;
  ThreadPlan plan;
  plan.of_group.resize(counts.size(), RowsByThread::kNoThread);
  GuestThreads threads;
  for (std::uint32_t group = 0; group < counts.size(); ++group) {
    if (counts[group] == 0 || !is_sample(profile, group)) continue;
    const Owner& owner = profile.owner_of(group);
    const bool is_of_vcpu = owner.vcpu != recording::kNoVcpu;
    if (is_of_vcpu && (!knows_processes || owner.disposition == Disposition::kIdle)) continue;
    const auto [entry, added] = threads.try_emplace(id_of(owner));
    GuestThread& thread = entry->second;
    if (added) {
      thread.index = static_cast<std::uint32_t>(plan.threads.size());
      plan.threads.emplace_back();
    }
    thread.samples_by_name[owner.comm] += counts[group];
    plan.threads[thread.index].samples += counts[group];
    plan.of_group[group] = thread.index;
  }
  name_threads(profile.profile(), threads, plan);
  return plan;
}

RowsByThread rows_by_thread(const ThreadPlan& plan, const SampleRows& rows) {
  return {plan.threads.size(), rows.times,
          [&](std::uint32_t row) { return plan.of_group[rows.groups[row]]; }};
}

}  // namespace ringside::exporters::firefox
