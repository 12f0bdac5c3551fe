#include "cases/text_lines.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace ringside::cases {

std::optional<std::vector<std::string_view>> TextLines::next() {
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    for (;;) {
      const std::size_t start = line.find_first_not_of(" \t\r");
      if (start == std::string_view::npos) break;
      line.remove_prefix(start);
      const std::size_t length = std::min(line.find_first_of(" \t\r"), line.size());
      words.push_back(line.substr(0, length));
      line.remove_prefix(length);
    }
    if (!words.empty()) return words;
  }
  return std::nullopt;
}

tl::unexpected<Error> TextLines::error(std::string_view what) const {
  return fail(ErrorCode::kFormat, "{}:{}: {}", name_, line_, what);
}

std::optional<std::uint64_t> to_number(std::string_view word) {
  const bool negative = word.starts_with('-');
  if (negative) word.remove_prefix(1);
  int base = 10;
  if (word.starts_with("0x")) {
    word.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return negative ? 0 - value : value;
}

std::optional<std::int16_t> to_offset(std::string_view word) {
  const auto value = to_number(word);
  if (!value) return std::nullopt;
  const auto offset = static_cast<std::int64_t>(*value);
  if (offset < std::numeric_limits<std::int16_t>::min() ||
      offset > std::numeric_limits<std::int16_t>::max())
    return std::nullopt;
  return static_cast<std::int16_t>(offset);
}

std::optional<Pair> to_pair(std::string_view word) {
  const std::size_t at = word.find('=');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  return Pair{word.substr(0, at), word.substr(at + 1)};
}

}  // namespace ringside::cases
