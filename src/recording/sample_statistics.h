#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "recording/records.h"

namespace ringside::recording {

// A histogram of durations in bounded memory. Quantiles are right to 1 part in 64.
class DurationHistogram {
 public:
  void add(std::uint64_t ns);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }
  // The smallest duration that at least `q` (0 to 1) of all are not above; 0 if there are none.
  [[nodiscard]] std::uint64_t quantile(double q) const;

 private:
  static constexpr unsigned kSubBits = 6;
  std::array<std::uint64_t, (65 - kSubBits) << kSubBits> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
};

// Why the walks of one part of the stacks ended.
struct PartStops {
  std::array<std::uint64_t, kStopReasonCount> stops{};
  [[nodiscard]] std::uint64_t total() const;
  [[nodiscard]] std::uint64_t complete() const;
};

// Everything that the samples themselves show, so that a recording whose writer died has it too.
class SampleStatistics {
 public:
  // A sample. To be called in their order; samples of one stop (equal times, one after the other)
  // count their pause once.
  void add(const Sample& sample);
  // The same in two steps: when each sample was taken, and what became of `samples` of that weight
  // together, that have level, disposition and stacks in common.
  void add_time(std::uint64_t time_ns, std::uint64_t pause_ns);
  void add_outcome(const Context& context, std::span<const StackRef> stacks, std::uint64_t samples,
                   std::uint64_t weight);

  // Samples and their weight by what became of them, indexed by wire::Disposition.
  std::array<std::uint64_t, kDispositionCount> count{};
  std::array<std::uint64_t, kDispositionCount> weight{};
  // Samples by the reason their walk ended: of a sample with several stacks, the last one, unless
  // an earlier one is incomplete.
  std::array<std::uint64_t, kStopReasonCount> stops{};
  // The same by part, each with the reason of its own walk: of kernel code (and of what no
  // privilege level is known of), and of user code, alone or below the kernel's. `both` samples
  // have both parts, `firmware` samples neither: the sum of `stops` is kernel + user - both +
  // firmware.
  PartStops kernel;
  PartStops user;
  std::uint64_t both = 0;
  std::uint64_t firmware = 0;
  std::uint64_t lost_stacks = 0;  // samples whose stack stood in a damaged block
  DurationHistogram pause;        // one entry a stop
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;

  [[nodiscard]] std::uint64_t total_weight() const;

 private:
  void add_parts(PrivilegeLevel level, std::span<const StackRef> stacks, std::uint64_t samples);

  bool any_ = false;
  std::uint64_t last_stop_ns_ = 0;
};

}  // namespace ringside::recording
