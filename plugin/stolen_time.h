#pragma once

#include <cstdint>

#include "wire/host_wait.h"

namespace ringside::plugin {

// A vCPU's thread's own time: the host's less that in which it waited for a processor. The guest
// has not used that. Ticks are due in this time, so that as many are taken as the host lets the
// thread run, and none at a moment that the thread has slept through: what a guest does first when
// it runs again, most often its timer interrupt, is not what it was doing.
class StolenTime {
 public:
  // `wait`: of the vCPU's thread.
  void begin(wire::HostWait wait);
  // In the vCPU's thread. `now`: the host's time in nanoseconds.
  void look(std::uint64_t now);

  // As of the last look: the thread's own time in nanoseconds.
  [[nodiscard]] std::uint64_t own_ns() const { return own_ns_; }
  // Whether it has waited between the last two looks.
  [[nodiscard]] bool has_waited() const { return has_waited_; }
  // How many intervals it has waited since the last call, or since begin(); parts are kept.
  [[nodiscard]] std::uint64_t take_intervals(std::uint64_t interval_ns);

 private:
  wire::HostWait wait_;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t not_taken_ns_ = 0;
  std::uint64_t own_ns_ = 0;
  bool has_waited_ = false;
};

}  // namespace ringside::plugin
