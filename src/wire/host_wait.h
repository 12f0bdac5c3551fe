#pragma once

#include <cstdint>

#include "base/fd.h"

namespace ringside::wire {

// How long a thread has run, and been kept waiting for a processor: the first numbers in
// /proc/PID/task/TID/schedstat (Linux's Documentation/scheduler/sched-stats.rst). Where the host
// does not tell, it has done neither.
class HostWait {
 public:
  HostWait() = default;
  // `schedstat`: the path of such a file.
  explicit HostWait(const char* schedstat);

  [[nodiscard]] bool is_open() const { return file_.valid(); }
  // Nanoseconds since the thread began; without a wait that it is in. From any thread.
  [[nodiscard]] std::uint64_t total_ns() const { return times().waited_ns; }
  struct Times {
    std::uint64_t ran_ns = 0;
    std::uint64_t waited_ns = 0;
  };
  // The same, and what it has run. The kernel adds to that when the thread leaves its processor,
  // and at the host's clock tick.
  [[nodiscard]] Times times() const;

 private:
  UniqueFd file_;
};

// total_ns() of the calling thread.
[[nodiscard]] std::uint64_t own_wait_ns();

}  // namespace ringside::wire
