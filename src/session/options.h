#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"

namespace ringside::session {

// How to sample. Times are nanoseconds.
struct SamplingOptions {
  std::uint64_t interval_ns = 10'000'000;
  std::uint64_t delay_ns = 0;                // after the start, before the first tick
  std::optional<std::uint64_t> duration_ns;  // of a running guest, from the first tick on
  std::optional<std::uint64_t> samples;      // stacks, all vCPUs together; idle vCPUs give none
  bool kernel = true;
  bool user = true;
  std::vector<VcpuId> vcpus;  // empty: all
  bool jitter = true;
  std::uint64_t seed = 1;
  std::uint32_t stack_bytes = 2048;  // copied of each stack, to begin with
  bool adapt_stack_bytes = true;
  bool keep_captures = false;  // store what samples were unwound from beside them
};

inline constexpr std::uint64_t kShortestIntervalNs = 200'000;

}  // namespace ringside::session
