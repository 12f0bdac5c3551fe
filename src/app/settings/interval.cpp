#include "app/settings/interval.h"

#include <charconv>
#include <cmath>
#include <optional>

namespace ringside::app {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kShortestNs = 1e5;
constexpr double kLongestNs = 1e13;

std::optional<double> ns_of_unit(std::string_view unit) {
  if (unit == "us") return 1e3;
  if (unit == "ms" || unit.empty()) return kNsPerMs;
  if (unit == "s") return 1e9;
  return std::nullopt;
}

}  // namespace

Result<std::uint64_t> parse_interval(std::string_view text, BareInterval bare) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  const bool is_in_seconds = unit.empty() && bare == BareInterval::kSeconds;
  const auto scale = ns_of_unit(is_in_seconds ? "s" : unit);
  if (parsed.ec != std::errc() || !scale)
    return fail(ErrorCode::kUsage,
                "--interval {}: give a number of {}, or one with a unit, such as 10, "
                "200us, 10ms or 0.1s",
                text, bare == BareInterval::kSeconds ? "seconds" : "milliseconds");
  if (unit.empty() && bare == BareInterval::kRefused)
    return fail(ErrorCode::kUsage,
                "--interval {0}: with --samples give a unit, {0}s or {0}ms: OSDK has seconds and "
                "Emerald milliseconds",
                text);
  if (unit.empty() && !is_in_seconds && number < 1)
    return fail(ErrorCode::kUsage,
                "--interval {}: give the unit of a number below 1, such as 100us or 0.1s", text);
  const double ns = number * *scale;
  if (!(ns >= kShortestNs && ns <= kLongestNs))
    return fail(ErrorCode::kUsage, "--interval {}: give 100us to 10000s", text);
  return static_cast<std::uint64_t>(std::llround(ns));
}

}  // namespace ringside::app
