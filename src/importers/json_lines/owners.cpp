#include "importers/json_lines/owners.h"

#include <algorithm>
#include <limits>

namespace ringside::importers::json_lines {
namespace {

constexpr std::size_t kLongestName = 4096;  // bytes
// Numbers of processes that stand for a name begin there, down from the highest.
constexpr std::uint32_t kFirstStandIn = std::numeric_limits<std::uint32_t>::max() - 1;

std::optional<std::uint32_t> small(const Item& line, std::string_view member) {
  const auto number = line.number(member);
  return number && *number <= std::numeric_limits<std::uint32_t>::max()
             ? std::optional(static_cast<std::uint32_t>(*number))
             : std::nullopt;
}

}  // namespace

std::uint32_t Owners::stand_in(std::string_view comm) {
  const auto known = stand_ins_.find(comm);
  if (known != stand_ins_.end()) return known->second;
  const auto number = kFirstStandIn - static_cast<std::uint32_t>(stand_ins_.size());
  return stand_ins_.emplace(comm, number).first->second;
}

Result<void> Owners::set(const Item& line, bool has_host_time, recording::SampleInfo& info) {
  if (has_host_time) latest_ns_ = std::max(latest_ns_, info.time_ns);
  info.pid = small(line, "pid");
  info.tid = small(line, "tid");
  info.address_space = line.address("address_space").value_or(0);
  info.thread_start_ns = line.number("thread_start_ns").value_or(0);
  info.state = enumerator_up_to(recording::kLastThreadState, line.text_of("state"))
                   .value_or(recording::ThreadState::kUnknown);
  if (const std::string_view waits_for = line.text_of("waits_for"); !waits_for.empty()) {
    RINGSIDE_ASSIGN(info.waits_for, writer_.add_text(waits_for));
  }
  recording::ThreadName name;
  name.name = line.text_of("comm").substr(0, kLongestName);
  name.cgroup = line.text_of("cgroup").substr(0, kLongestName);
  name.time_ns = has_host_time ? info.time_ns : latest_ns_;
  name.of_many = !info.pid && !name.name.empty();
  if (name.of_many && stand_ins_.size() < kMostThreads) info.pid = stand_in(name.name);
  if (!info.pid) return {};
  name.pid = *info.pid;
  name.tid = info.tid.value_or(name.pid);
  return call(std::move(name));
}

// The name is given where it changes. Samples of several vCPUs are not in order of time.
Result<void> Owners::call(recording::ThreadName name) {
  if (called_.size() >= kMostThreads) called_.clear();
  const auto [known, is_new] = called_.try_emplace({name.pid, name.tid});
  Called& called = known->second;
  const bool is_same = called.comm == name.name && called.cgroup == name.cgroup;
  if (is_same && (is_new || called.from_ns <= name.time_ns)) return {};
  called = {name.name, name.cgroup, name.time_ns};
  return writer_.add_thread_name(name);
}

}  // namespace ringside::importers::json_lines
