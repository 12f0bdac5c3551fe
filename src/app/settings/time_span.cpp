#include "app/settings/time_span.h"

#include <charconv>
#include <optional>

namespace ringside::app {
namespace {

std::optional<double> seconds_of(std::string_view unit) {
  if (unit.empty()) return 0;
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  return std::nullopt;
}

}  // namespace

Result<views::TimeSpan> parse_time_span(std::string_view option, std::string_view text) {
  views::TimeSpan span;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, span.number, std::chars_format::fixed);
  const auto unit = seconds_of({parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)});
  if (parsed.ec != std::errc() || !unit || !(span.number >= 0))
    return fail(ErrorCode::kUsage,
                "{} {}: give a time such as 10s or 50ms, or a number of events such as 1000 where "
                "the recording has no times",
                option, text);
  span.unit_seconds = *unit;
  return span;
}

}  // namespace ringside::app
