#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "session/recorder.h"

namespace ringside::app {

// The lines of `profile -v`, as Emerald's profiler prints them while it samples ("Sample N: M
// frames"); ours have the vCPU, the time and the time that the guest stood still behind.
class SampleLines {
 public:
  // `interval_ns`: 0 where ringside does not choose it.
  SampleLines(std::uint64_t interval_ns, std::optional<std::uint64_t> duration_ns)
      : interval_ns_(interval_ns), duration_ns_(duration_ns) {}

  // Before the first sample: "Interval: 10ms" and "Duration: 5s", where there are such.
  [[nodiscard]] std::string head() const;
  // One sample: "Sample 7: 12 frames, vCPU 0, at 0.071s, took 310µs"; without the last part where
  // the guest was not stopped. A line of its own warns once a stop that took longer than the
  // interval.
  [[nodiscard]] std::string of(const session::Control::Sample& sample);

 private:
  std::uint64_t interval_ns_;
  std::optional<std::uint64_t> duration_ns_;
  std::optional<std::uint64_t> warned_ns_;  // the time of the stop
};

}  // namespace ringside::app
