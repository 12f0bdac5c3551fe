#include "app/settings/time_range.h"

#include <charconv>
#include <cmath>

namespace ringside::app {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kMostSeconds = 1e9;  // so that they fit as nanoseconds

// False if `text` is neither a number of seconds nor empty, which leaves `ns` as it is.
bool read_seconds(std::string_view text, std::uint64_t& ns) {
  if (text.empty()) return true;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  if (!(seconds >= 0 && seconds <= kMostSeconds)) return false;
  ns = static_cast<std::uint64_t>(std::llround(seconds * kNsPerSecond));
  return true;
}

}  // namespace

Result<TimeRange> parse_time_range(std::string_view text) {
  TimeRange range;
  if (text.empty()) return range;
  const std::size_t comma = text.find(',');
  const bool is_read = comma != std::string_view::npos &&
                       read_seconds(text.substr(0, comma), range.from_ns) &&
                       read_seconds(text.substr(comma + 1), range.to_ns);
  if (!is_read || range.from_ns >= range.to_ns)
    return fail(ErrorCode::kUsage,
                "--time {}: give the first and the last second, such as 1.5,3 or 1.5,", text);
  return range;
}

}  // namespace ringside::app
