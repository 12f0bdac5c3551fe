#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "base/result.h"

namespace ringside::app {

// Times since the start of a recording, [from, to).
struct TimeRange {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = std::numeric_limits<std::uint64_t>::max();
};

// Reads `perf report --time`'s form: "1.5,3" are seconds, and either of them may be left out. An
// empty text is all times.
[[nodiscard]] Result<TimeRange> parse_time_range(std::string_view text);

}  // namespace ringside::app
