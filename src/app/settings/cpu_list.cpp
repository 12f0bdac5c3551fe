#include "app/settings/cpu_list.h"

#include <array>
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

Result<std::vector<VcpuId>> parse_cpu_mask(const std::string& text) {
  constexpr unsigned kBits = 128;
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const std::string digits = is_hexadecimal ? text.substr(2) : text;
  const unsigned base = is_hexadecimal ? 16 : 10;
  std::array<bool, kBits> mask{};
  bool is_read = !digits.empty();
  for (const char c : digits) {
    unsigned carry = 0;
    const auto [end, error] = std::from_chars(&c, &c + 1, carry, static_cast<int>(base));
    is_read &= error == std::errc{};
    // mask = mask * base + digit, from the lowest bit on
    for (bool& bit : mask) {
      carry += bit ? base : 0;
      bit = (carry & 1) != 0;
      carry >>= 1;
    }
    is_read &= carry == 0;
  }
  std::vector<VcpuId> result;
  for (unsigned cpu = 0; cpu < kBits; ++cpu)
    if (mask[cpu]) result.push_back(VcpuId{static_cast<std::uint16_t>(cpu)});
  if (!is_read || result.empty())
    return fail(ErrorCode::kUsage,
                "--cpu-mask {}: give a number of up to 128 bits, not 0, whose bit n is of vCPU n, "
                "such as 5 or 0x5",
                text);
  return result;
}

}  // namespace ringside::app
