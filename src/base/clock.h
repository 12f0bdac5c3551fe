#pragma once

#include <cstdint>
#include <ctime>

namespace ringside {

// Nanoseconds of one of the host's clocks, as clock_gettime(2) has them; 0 if there is none such.
inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

// Sleeps so long, or until a signal comes.
inline void sleep_ns(std::uint64_t ns) {
  const timespec pause{static_cast<time_t>(ns / 1'000'000'000u),
                       static_cast<long>(ns % 1'000'000'000u)};
  ::nanosleep(&pause, nullptr);
}

}  // namespace ringside
