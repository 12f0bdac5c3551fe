#pragma once

#include <cstdint>
#include <random>

namespace ringside::wire {

// When to sample. Interval k has one tick, displaced at random inside it, because a fixed cadence
// locks in step with the guest's own timer. A late sample does not shift the next: tick k is always
// due inside interval k, which comes later by what the guest stood still. All times are nanoseconds
// of one monotonic clock.
class SampleClock {
 public:
  SampleClock(std::uint64_t start_ns, std::uint64_t interval_ns, bool jitter, std::uint64_t seed);

  // When the next tick is due.
  [[nodiscard]] std::uint64_t due_ns() const { return due_; }
  // The tick was taken, or given up, at `now_ns`. Goes on to the first tick whose interval has not
  // passed yet; the ticks that are jumped over are missed.
  void advance(std::uint64_t now_ns);
  // The guest stood still for `ns` at the tick that is due: the ticks after it come so much later.
  // To be called before advance(). A clock of the host's time would take more samples of what makes
  // a stop long.
  void stand_still(std::uint64_t ns) { start_ += ns; }
  // Nobody could take a tick until `now_ns`: those whose interval has passed are missed.
  void pass(std::uint64_t now_ns);
  // The guest stood still by its user's will until `now_ns`: nothing was due.
  void skip_to(std::uint64_t now_ns);

  [[nodiscard]] std::uint64_t missed() const { return missed_; }

 private:
  void plan(std::uint64_t index);
  // The first interval whose tick can still be taken.
  [[nodiscard]] std::uint64_t open_interval(std::uint64_t now_ns) const;

  std::uint64_t start_;
  std::uint64_t interval_;
  bool jitter_;
  std::mt19937_64 random_;
  std::uint64_t index_ = 0;
  std::uint64_t due_ = 0;
  std::uint64_t missed_ = 0;
};

}  // namespace ringside::wire
