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
  // In the vCPU's thread, some moment: the host's time, and the processor time that the thread has
  // used, both in nanoseconds. Where these show that it has run all the time the kernel is not
  // asked for its waits, which takes longer than a sample.
  void look(std::uint64_t now, std::uint64_t used);

  // As of the last look: the thread's own time in nanoseconds.
  [[nodiscard]] std::uint64_t own_ns() const { return own_ns_; }
  // Whether it has waited between the last two looks.
  [[nodiscard]] bool has_waited() const { return has_waited_; }
  // How many intervals it has waited since the last call, or since begin(); parts are kept.
  [[nodiscard]] std::uint64_t take_intervals(std::uint64_t interval_ns);

 private:
  struct Moment {
    std::uint64_t now = 0;
    std::uint64_t used = 0;

    // How long the thread has not run since then.
    [[nodiscard]] std::uint64_t away_until(const Moment& later) const {
      const std::uint64_t passed = later.now - now;
      const std::uint64_t ran = later.used - used;
      return passed > ran ? passed - ran : 0;
    }
  };

  wire::HostWait wait_;
  Moment looked_at_;
  Moment asked_at_;
  std::uint64_t waited_ns_ = 0;
  std::uint64_t not_taken_ns_ = 0;
  std::uint64_t own_ns_ = 0;
  bool has_waited_ = false;
};

}  // namespace ringside::plugin
