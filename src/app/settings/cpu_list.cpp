#include "app/settings/cpu_list.h"

#include <charconv>

namespace ringside::app {

Result<std::vector<VcpuId>> parse_cpu_list(const std::string& text) {
  const auto wrong = [&] {
    return fail(ErrorCode::kUsage, "--cpu {}: give vCPU numbers such as 0,2-3", text);
  };
  std::vector<VcpuId> result;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::uint16_t& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    at = next;
    return error == std::errc{} && value < 4096;
  };
  while (true) {
    std::uint16_t first = 0;
    if (!number(first)) return wrong();
    std::uint16_t last = first;
    if (at != end && *at == '-' && (++at, !number(last) || last < first)) return wrong();
    for (unsigned cpu = first; cpu <= last; ++cpu)
      result.push_back(VcpuId{static_cast<std::uint16_t>(cpu)});
    if (at == end) return result;
    if (*at++ != ',') return wrong();
  }
}

}  // namespace ringside::app
