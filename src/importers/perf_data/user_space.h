#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "importers/perf_data/side_records.h"

namespace ringside::importers::perf_data {

// Which file stands where in the address space of a process.
class UserSpace {
 public:
  struct Range {
    std::uint64_t start = 0;
    std::uint64_t end = 0;          // behind the last byte
    std::uint64_t file_offset = 0;  // of the first byte
    std::uint32_t file = 0;         // its number in UserImages
    bool operator==(const Range&) const = default;
  };
  // More, of code, are left out.
  static constexpr std::size_t kMostRanges = 8192;

  // Takes the place of what was there.
  void map(const Range& range);
  void unmap(std::uint64_t start, std::uint64_t end);

  [[nodiscard]] const Range* find(std::uint64_t address) const;
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  // Another one for another content, by a hash; not 0.
  [[nodiscard]] std::uint64_t number() const { return hash_ | 1; }

 private:
  void toggle(const Range& range);
  void cut_front(Range& range, std::uint64_t start);

  std::vector<Range> ranges_;  // by start; they do not overlap
  std::uint64_t hash_ = 0;     // of all together, in any order
};

// The address spaces of all processes. Processes that were forked share one until one of them
// changes it.
class UserSpaces {
 public:
  // A space as it is between two changes.
  struct Version {
    std::uint64_t number = 0;  // of the space; 0: nothing is known of the process
    std::shared_ptr<const UserSpace> space;
  };
  [[nodiscard]] const Version& of(std::uint32_t pid);

  // A range of code, or of what hides code that was there.
  void map(std::uint32_t pid, const UserSpace::Range& range, bool is_code);
  void fork(std::uint32_t parent_pid, std::uint32_t pid);

 private:
  static constexpr std::size_t kMostProcesses = 1 << 18;
  static constexpr std::size_t kMostRanges = 1 << 20;  // of all processes together

  struct Process {
    Version version;
    std::shared_ptr<UserSpace> space;  // the same; null: of none
    std::uint64_t last_use = 0;
  };
  Process& process(std::uint32_t pid);
  void forget_some();

  std::unordered_map<std::uint32_t, Process> processes_;
  std::uint64_t uses_ = 0;
  std::size_t ranges_ = 0;  // at most that many are there
};

}  // namespace ringside::importers::perf_data
