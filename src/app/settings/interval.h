#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace ringside::app {

// A number without a unit: Emerald's are milliseconds, and those of Asterinas' OSDK are seconds.
enum class BareInterval : std::uint8_t { kMilliseconds, kSeconds, kRefused };

// The value of --interval in nanoseconds: a number with the unit us, ms or s ("200us", "0.1s"), or
// as `bare` has it without one. Errors: kUsage for anything else, for a number of milliseconds
// below 1 without a unit, which may be meant as seconds, and for less than 100 us or more than
// 10,000 s.
[[nodiscard]] Result<std::uint64_t> parse_interval(std::string_view text,
                                                   BareInterval bare = BareInterval::kMilliseconds);

}  // namespace ringside::app
