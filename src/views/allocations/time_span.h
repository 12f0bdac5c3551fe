#pragma once

#include <cstdint>

#include "base/result.h"
#include "recording/sources.h"

namespace ringside::views {

// A time that a user gives, for clocks of any kind.
struct TimeSpan {
  double number = 0;
  // Seconds that the number counts; 0: it has no unit. It counts seconds then, or ticks of a clock
  // that does not count time.
  double unit_seconds = 0;
};

// In ticks of the clock. Error kUsage where the span has a unit of time, and the clock no time;
// `in_events`: because the user wants numbers of events.
[[nodiscard]] Result<std::uint64_t> ticks_of(const TimeSpan& span, const recording::Clock& clock,
                                             bool in_events = false);

}  // namespace ringside::views
