#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace ringside::app {

// The value of --interval in nanoseconds: a number with the unit us, ms or s ("200us", "0.1s"), or
// milliseconds without one. Errors: kUsage for anything else, for a number below 1 without a unit,
// which may be meant as seconds, and for less than 100 us or more than 10,000 s.
[[nodiscard]] Result<std::uint64_t> parse_interval(std::string_view text);

}  // namespace ringside::app
