#include "app/settings/load_bias.h"

#include <charconv>

namespace ringside::app {

Result<std::optional<std::uint64_t>> parse_load_bias(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size())
    return fail(ErrorCode::kUsage, "--load-bias {}: give a hexadecimal number such as 0x2d200000",
                text);
  return negative ? 0 - value : value;
}

}  // namespace ringside::app
