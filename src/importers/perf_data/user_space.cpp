#include "importers/perf_data/user_space.h"

#include <algorithm>
#include <set>

#include "base/dense_table.h"
#include "base/least_recent.h"

namespace ringside::importers::perf_data {

// Notes that a range has come or gone.
void UserSpace::toggle(const Range& range) {
  hash_ ^= mixed(mixed(mixed(range.start) ^ range.end) ^ range.file_offset ^
                 std::uint64_t{range.file} << 40);
}

void UserSpace::cut_front(Range& range, std::uint64_t start) {
  toggle(range);
  range.file_offset += start - range.start;
  range.start = start;
  toggle(range);
}

void UserSpace::unmap(std::uint64_t start, std::uint64_t end) {
  if (start >= end) return;
  auto first = std::lower_bound(
      ranges_.begin(), ranges_.end(), start,
      [](const Range& range, std::uint64_t address) { return range.end <= address; });
  if (first == ranges_.end() || first->start >= end) return;
  if (first->start < start) {
    Range rest = *first;
    toggle(*first);
    first->end = start;
    toggle(*first);
    ++first;
    if (rest.end > end) {
      toggle(rest);
      cut_front(rest, end);
      ranges_.insert(first, rest);
      return;
    }
  }
  auto last = first;
  for (; last != ranges_.end() && last->end <= end; ++last) toggle(*last);
  if (last != ranges_.end() && last->start < end) cut_front(*last, end);
  ranges_.erase(first, last);
}

void UserSpace::map(const Range& range) {
  if (range.start >= range.end) return;
  unmap(range.start, range.end);
  if (ranges_.size() >= kMostRanges) return;
  const auto behind = std::upper_bound(
      ranges_.begin(), ranges_.end(), range.start,
      [](std::uint64_t address, const Range& other) { return address < other.start; });
  toggle(range);
  ranges_.insert(behind, range);
}

const UserSpace::Range* UserSpace::find(std::uint64_t address) const {
  const auto found =
      std::lower_bound(ranges_.begin(), ranges_.end(), address,
                       [](const Range& range, std::uint64_t at) { return range.end <= at; });
  return found != ranges_.end() && found->start <= address ? &*found : nullptr;
}

UserSpaces::Process& UserSpaces::process(std::uint32_t pid) {
  if (processes_.size() >= kMostProcesses) forget_some();
  Process& process = processes_[pid];
  process.last_use = ++uses_;
  return process;
}

const UserSpaces::Version& UserSpaces::of(std::uint32_t pid) {
  static const Version kNone;
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return kNone;
  found->second.last_use = ++uses_;
  return found->second.version;
}

void UserSpaces::map(std::uint32_t pid, const UserSpace::Range& range, bool is_code) {
  if (ranges_ >= kMostRanges) forget_some();
  Process& changed = process(pid);
  // A library that comes and goes often has its old place.
  const UserSpace::Range* const there =
      changed.space && is_code ? changed.space->find(range.start) : nullptr;
  if (there != nullptr && *there == range) return;
  // The version is the other owner.
  const bool is_shared = changed.space && changed.space.use_count() > 2;
  if (!changed.space || is_shared)
    changed.space =
        changed.space ? std::make_shared<UserSpace>(*changed.space) : std::make_shared<UserSpace>();
  if (is_shared) ranges_ += changed.space->ranges().size();
  if (is_code)
    changed.space->map(range);
  else
    changed.space->unmap(range.start, range.end);
  ranges_ += 2;
  changed.version = {changed.space->number(), changed.space};
}

void UserSpaces::fork(std::uint32_t parent_pid, std::uint32_t pid) {
  if (parent_pid == pid) return;
  const auto parent = processes_.find(parent_pid);
  const Process copy = parent == processes_.end() ? Process() : parent->second;
  Process& child = process(pid);
  child.version = copy.version;
  child.space = copy.space;
}

void UserSpaces::forget_some() {
  do {
    forget_least_recent(processes_);
    std::set<const UserSpace*> counted;
    ranges_ = 0;
    for (const auto& [pid, process] : processes_)
      if (process.space && counted.insert(process.space.get()).second)
        ranges_ += process.space->ranges().size();
  } while (ranges_ > kMostRanges / 2 && processes_.size() > 1);
}

}  // namespace ringside::importers::perf_data
