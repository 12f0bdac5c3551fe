#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "profile/string_table.h"
#include "recording/records.h"

namespace ringside::profile {

// Names and control groups of threads at any time: an exec changes a name, and a pid is used again.
// Memory grows with the number of names given.
class ThreadNames {
 public:
  explicit ThreadNames(StringTable& strings) : strings_(strings) {}

  struct Called {
    StringId comm = 0;     // 0: not known
    StringId cgroup = 0;   // 0: not known
    bool of_many = false;  // the number is that of no process
  };

  // An empty name is none: from then on the thread has no name.
  void add(const recording::ThreadName& value);
  // The thread's own name, or its process' where that was given later. A sample without `tid` is
  // the main thread's.
  [[nodiscard]] Called at(std::uint64_t time_ns, std::uint32_t pid,
                          std::optional<std::uint32_t> tid) const;

 private:
  using Names = std::map<std::uint64_t, Called>;  // by the time from which on they hold
  [[nodiscard]] const Names::value_type* latest(std::uint64_t time_ns, std::uint32_t pid,
                                                std::uint32_t tid) const;

  StringTable& strings_;
  std::unordered_map<std::uint64_t, Names> names_;  // by pid and tid
};

}  // namespace ringside::profile
