#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "base/clock.h"

namespace ringside::testing {

// How many times as long as on an idle machine something may take here, by cmake/time_limits.cmake.
inline double time_scale() {
  const char* const text = std::getenv("RINGSIDE_TIME_SCALE");
  return std::max(1.0, text == nullptr ? 1.0 : std::strtod(text, nullptr));
}

// For a time-out that a test waits for, and that must not be over before what it does meanwhile.
inline std::chrono::milliseconds scaled(std::chrono::milliseconds on_an_idle_machine) {
  return std::chrono::milliseconds(
      static_cast<long long>(static_cast<double>(on_an_idle_machine.count()) * time_scale()));
}

// A limit that ends a hang, and decides nothing else.
inline std::chrono::milliseconds longest_step() { return scaled(std::chrono::seconds(60)); }

// When a step that begins now is a hang.
inline std::uint64_t step_end_ns() {
  return monotonic_ns() +
         static_cast<std::uint64_t>(std::chrono::nanoseconds(longest_step()).count());
}

// Whether it comes true within a step.
template <class Condition>
bool wait_until(const Condition& is_true) {
  const std::uint64_t end = step_end_ns();
  while (!is_true()) {
    if (monotonic_ns() > end) return false;
    ::usleep(1000);
  }
  return true;
}

}  // namespace ringside::testing
