#include "exporters/allocations/allocation_units.h"

#include <algorithm>
#include <cmath>

#include "exporters/units.h"

namespace ringside::exporters {
namespace {

bool is_of_events(const recording::Clock& clock) {
  return clock.kind == recording::ClockKind::kEventNumber;
}

}  // namespace

std::string_view size_unit(recording::WeightUnit unit) {
  return unit == recording::WeightUnit::kCount ? "objects" : recording::name_of(unit);
}

const char* time_unit(const recording::Clock& clock) {
  if (clock.frequency != 0) return "ns";
  return is_of_events(clock) ? "events" : "ticks";
}

double time_number(double ticks, const recording::Clock& clock) {
  return clock.frequency == 0 ? ticks : ticks * 1e9 / static_cast<double>(clock.frequency);
}

std::string time_text(double ticks, const recording::Clock& clock) {
  constexpr double kMost = 9e18;
  const auto number =
      static_cast<std::uint64_t>(std::min(std::round(time_number(ticks, clock)), kMost));
  return clock.frequency == 0 ? format_count(number) : format_duration(number);
}

std::string moment_text(std::uint64_t ticks, const recording::Clock& clock) {
  std::string text = time_text(static_cast<double>(ticks), clock);
  if (clock.frequency != 0) return text;
  return (is_of_events(clock) ? "event " : "tick ") + text;
}

}  // namespace ringside::exporters
