#include "app/settings/cpu_frequency.h"

#include <charconv>

namespace ringside::app {
namespace {

constexpr double kHzOfGhz = 1e9;
constexpr double kMostGhz = 1000;

}  // namespace

Result<double> parse_cpu_frequency(const std::string& text) {
  double ghz = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, ghz, std::chars_format::fixed);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(ghz > 0) || ghz > kMostGhz)
    return fail(ErrorCode::kUsage,
                "--cpu-freq {}: give the rate of the time stamp counter in GHz, such as 2.2", text);
  return ghz * kHzOfGhz;
}

}  // namespace ringside::app
