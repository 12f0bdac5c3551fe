#include "importers/callgrind/line_scan.h"

#include <algorithm>

#include "base/whole_number.h"

namespace ringside::importers::callgrind {

bool LineScan::next(std::string_view& line) {
  if (end_ == text_.size()) return false;
  begin_ = end_;
  ++number_;
  const std::size_t newline = std::min(text_.find('\n', begin_), text_.size());
  end_ = std::min(newline + 1, text_.size());
  line = text_.substr(begin_, newline - begin_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

std::string_view take_word(std::string_view& rest) {
  constexpr std::string_view kBlanks = " \t";
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  return word;
}

Setting setting_of(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && line[end] >= 'a' && line[end] <= 'z') ++end;
  if (end == 0 || end == line.size() || (line[end] != '=' && line[end] != ':')) return {};
  std::string_view value = line.substr(end + 1);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  return {line.substr(0, end), line[end], value};
}

bool parse_number(std::string_view word, std::uint64_t& number) {
  int base = 10;
  if (word.starts_with("0x")) {
    word.remove_prefix(2);
    base = 16;
  }
  const auto whole = whole_number<std::uint64_t>(word, base);
  number = whole.value_or(0);
  return whole.has_value();
}

}  // namespace ringside::importers::callgrind
