#include "exporters/flamegraph/script_hash.h"

#include <charconv>
#include <cstdint>

#include "exporters/flamegraph/flamegraph_assets.h"

namespace ringside::exporters {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Six hexadecimal digits are four of base64.
std::string base64_of_hex(std::string_view hex) {
  std::string text;
  for (; !hex.empty(); hex.remove_prefix(std::min<std::size_t>(6, hex.size()))) {
    std::string part(hex.substr(0, 6));
    const std::size_t digits = (part.size() * 4 + 5) / 6;
    part.resize(6, '0');
    std::uint32_t bits = 0;
    std::from_chars(part.data(), part.data() + part.size(), bits, 16);
    for (std::size_t i = 0; i < 4; ++i)
      text += i < digits ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string flamegraph_script_hash() { return base64_of_hex(kFlamegraphScriptSha256); }

}  // namespace ringside::exporters
