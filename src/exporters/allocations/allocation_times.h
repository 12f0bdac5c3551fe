#pragma once

#include <cstdint>
#include <string>

#include "recording/sources.h"

// Times of allocations: of clocks that count time, and of others.
namespace ringside::exporters {

// "ns", "events", "ticks": the unit of time_number().
[[nodiscard]] const char* time_unit(const recording::Clock& clock);
// Ticks of the clock in that unit.
[[nodiscard]] double time_number(double ticks, const recording::Clock& clock);
// "1.62 s"; of clocks that count no time "1,234".
[[nodiscard]] std::string time_text(double ticks, const recording::Clock& clock);
// "1.62 s", "event 1,234", "tick 1,234".
[[nodiscard]] std::string moment_text(std::uint64_t ticks, const recording::Clock& clock);

}  // namespace ringside::exporters
