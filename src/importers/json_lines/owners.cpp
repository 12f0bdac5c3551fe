#include "importers/json_lines/owners.h"

#include <algorithm>
#include <iterator>
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

// 0 where there is no time yet.
std::uint64_t behind(std::uint64_t time_ns) {
  return time_ns == 0 || time_ns == std::numeric_limits<std::uint64_t>::max() ? time_ns
                                                                              : time_ns + 1;
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
  // A line with another clock has the last name, which is none of the lines in front of it.
  name.time_ns = has_host_time ? info.time_ns : behind(latest_ns_);
  name.of_many = !info.pid && !name.name.empty();
  if (name.of_many && stand_ins_.size() < kMostNames) info.pid = stand_in(name.name);
  if (!info.pid) return {};
  name.pid = *info.pid;
  name.tid = info.tid.value_or(name.pid);
  return call(name);
}

// The name is given where it changes. Samples of several vCPUs are not in order of time, so a line
// may lie between two others that have another name.
Result<void> Owners::call(const recording::ThreadName& name) {
  if (name_count_ >= kMostNames) {
    called_.clear();
    name_count_ = 0;
  }
  Names& names = called_[{name.pid, name.tid}];
  const std::uint64_t at = name.time_ns;
  const bool is_none = name.name.empty() && name.cgroup.empty();
  const auto next = names.upper_bound(at);
  Called* const before = next == names.begin() ? nullptr : &std::prev(next)->second;
  if (before != nullptr && before->comm == name.name && before->cgroup == name.cgroup) {
    before->last_ns = std::max(before->last_ns, at);
    return {};
  }
  // The names behind it hold from where they are needed.
  if (before != nullptr && before->last_ns > at) {
    Called rest = *before;
    before->last_ns = at;
    RINGSIDE_TRY(write(name, at + 1, rest));
    names.insert_or_assign(at + 1, std::move(rest));
    ++name_count_;
  } else if (!is_none && next != names.end() && !next->second.is_written) {
    RINGSIDE_TRY(write(name, next->first, next->second));
  }
  Called called{name.name, name.cgroup, at, false};
  if (before != nullptr || !is_none) RINGSIDE_TRY(write(name, at, called));
  names.insert_or_assign(at, std::move(called));
  ++name_count_;
  return {};
}

Result<void> Owners::write(recording::ThreadName name, std::uint64_t time_ns, Called& called) {
  name.time_ns = time_ns;
  name.name = called.comm;
  name.cgroup = called.cgroup;
  called.is_written = true;
  return writer_.add_thread_name(name);
}

}  // namespace ringside::importers::json_lines
