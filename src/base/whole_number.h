#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace ringside {

// The number that `text` is from its beginning to its end; nothing where it is none, or does not
// fit.
template <std::integral Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, base);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace ringside
