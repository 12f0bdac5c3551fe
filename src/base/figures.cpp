#include "base/figures.h"

#include <fmt/core.h>

namespace ringside {

std::string format_count(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string format_percent(std::uint64_t part, std::uint64_t total) {
  const double share = total == 0 ? 0 : static_cast<double>(part) / static_cast<double>(total);
  return fmt::format("{:.2f}", 100 * share);
}

}  // namespace ringside
