#include "views/allocations/time_span.h"

#include <algorithm>

namespace ringside::views {

Result<std::uint64_t> ticks_of(const TimeSpan& span, const recording::Clock& clock,
                               bool in_events) {
  constexpr double kMost = 9e18;
  if (in_events && span.unit_seconds != 0)
    return fail(ErrorCode::kUsage,
                "--in-events counts times in events: give a number without a unit of time");
  if (clock.frequency == 0 && span.unit_seconds != 0)
    return fail(ErrorCode::kUsage,
                "the recording has no times of allocations, but {}: give a number without a unit",
                clock.kind == recording::ClockKind::kEventNumber
                    ? "numbers of events"
                    : "ticks of a clock whose rate is not known");
  const double seconds = span.unit_seconds == 0 ? 1 : span.unit_seconds;
  const double scale = clock.frequency == 0 ? 1 : seconds * static_cast<double>(clock.frequency);
  return static_cast<std::uint64_t>(std::clamp(span.number * scale, 0.0, kMost));
}

}  // namespace ringside::views
