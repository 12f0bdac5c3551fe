#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "recording/sources.h"

// Units of allocations. Times are of clocks that count time, or of others.
namespace ringside::exporters {

// "bytes", "pages", "objects": of the sizes of an allocator whose sizes have that unit.
[[nodiscard]] std::string_view size_unit(recording::WeightUnit unit);

// "ns", "events", "ticks": the unit of time_number().
[[nodiscard]] const char* time_unit(const recording::Clock& clock);
// Ticks of the clock in that unit.
[[nodiscard]] double time_number(double ticks, const recording::Clock& clock);
// "1.62 s"; of clocks that count no time "1,234".
[[nodiscard]] std::string time_text(double ticks, const recording::Clock& clock);
// "1.62 s", "event 1,234", "tick 1,234".
[[nodiscard]] std::string moment_text(std::uint64_t ticks, const recording::Clock& clock);

}  // namespace ringside::exporters
