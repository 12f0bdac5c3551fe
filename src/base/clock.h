#pragma once

#include <cstdint>
#include <ctime>

namespace ringside {

// Nanoseconds of the host's monotonic clock.
inline std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace ringside
