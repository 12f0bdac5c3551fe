#pragma once

#include <cstdint>

#include "base/fd.h"

namespace ringside::wire {

// How long a thread has been kept waiting for a processor: the second number in
// /proc/PID/task/TID/schedstat (Linux's Documentation/scheduler/sched-stats.rst). Where the host
// does not tell, it has never waited.
class HostWait {
 public:
  HostWait() = default;
  // `schedstat`: the path of such a file.
  explicit HostWait(const char* schedstat);

  [[nodiscard]] bool is_open() const { return file_.valid(); }
  // Nanoseconds since the thread began; without a wait that it is in. From any thread.
  [[nodiscard]] std::uint64_t total_ns() const;

 private:
  UniqueFd file_;
};

}  // namespace ringside::wire
