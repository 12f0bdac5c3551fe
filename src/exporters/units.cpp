#include "exporters/units.h"

#include <fmt/chrono.h>

namespace ringside::exporters {

std::string format_duration(std::uint64_t ns) {
  if (ns < 1000) return fmt::format("{} ns", ns);
  constexpr const char* kUnits[] = {"us", "ms", "s"};
  double value = static_cast<double>(ns) / 1000;
  std::size_t unit = 0;
  for (; unit < 2 && value >= 999.5; ++unit) value /= 1000;
  if (value >= 99.95) return fmt::format("{:.0f} {}", value, kUnits[unit]);
  return value >= 9.995 ? fmt::format("{:.1f} {}", value, kUnits[unit])
                        : fmt::format("{:.2f} {}", value, kUnits[unit]);
}

std::string format_share(profile::Weight part, std::uint64_t total) {
  return (part < 0 ? "-" : "") + format_percent(profile::extent_of(part), total);
}

std::optional<Colour> colour_of_share(std::uint64_t part, std::uint64_t total) {
  const double share = total == 0 ? 0 : static_cast<double>(part) / static_cast<double>(total);
  if (share >= 0.05) return Colour::kRed;
  if (share >= 0.005) return Colour::kGreen;
  return std::nullopt;
}

std::string_view unit_of(profile::Weight weight, recording::WeightUnit unit) {
  std::string_view name = recording::name_of(unit);
  const bool is_plural = name.ends_with('s') && unit != recording::WeightUnit::kNanoseconds;
  if (weight == 1 && is_plural) name.remove_suffix(1);
  return name;
}

std::string format_weight(profile::Weight weight) {
  return (weight < 0 ? "-" : "") + format_count(profile::extent_of(weight));
}

std::string format_time(std::uint64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
}

std::string format_date(std::uint64_t wall_ns) {
  const auto seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000);
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(seconds));
}

}  // namespace ringside::exporters
