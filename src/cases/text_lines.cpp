#include "cases/text_lines.h"

#include <algorithm>
#include <limits>

#include "base/split.h"
#include "base/whole_number.h"

namespace ringside::cases {
namespace {

constexpr std::string_view kBlanks = " \t\r";

// Takes the first line off `text`; without what stands behind a '#'.
std::string_view take_content(std::string_view& text) {
  const std::string_view line = take_line(text);
  return line.substr(0, line.find('#'));
}

// The name in a line "[NAME]"; nothing in other lines.
std::optional<std::string_view> heading_in(std::string_view line) {
  const std::size_t end = line.find_last_not_of(kBlanks);
  if (end == std::string_view::npos || line.front() != '[' || line[end] != ']') return std::nullopt;
  return line.substr(1, end - 1);
}

}  // namespace

std::optional<std::vector<std::string_view>> TextLines::next() {
  while (!rest_.empty()) {
    std::string_view line = take_content(rest_);
    ++line_;
    std::vector<std::string_view> words;
    for (;;) {
      const std::size_t start = line.find_first_not_of(kBlanks);
      if (start == std::string_view::npos) break;
      line.remove_prefix(start);
      const std::size_t length = std::min(line.find_first_of(kBlanks), line.size());
      words.push_back(line.substr(0, length));
      line.remove_prefix(length);
    }
    if (words.empty()) continue;
    read_ = line_;
    return words;
  }
  return std::nullopt;
}

tl::unexpected<Error> TextLines::error(std::string_view what, ErrorCode code) const {
  return fail(code, "{}:{}: {}", name_, std::max(read_, std::size_t{1}), what);
}

SectionedText::SectionedText(std::string_view text, const std::string& name) : preamble_({}, name) {
  std::string_view heading;
  std::size_t heading_line = 0;
  std::string_view body = text;  // from the first line behind the heading on
  const auto end_section = [&](std::string_view rest) {
    TextLines lines(body.substr(0, body.size() - rest.size()), name, heading_line);
    if (heading_line == 0)
      preamble_ = std::move(lines);
    else
      sections_.push_back({heading, std::move(lines)});
  };
  std::string_view rest = text;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::string_view before = rest;
    const auto found = heading_in(take_content(rest));
    if (!found) continue;
    end_section(before);
    heading = *found;
    heading_line = line;
    body = rest;
  }
  end_section({});
}

std::optional<std::uint64_t> to_number(std::string_view word) {
  const bool negative = word.starts_with('-');
  if (negative) word.remove_prefix(1);
  int base = 10;
  if (word.starts_with("0x")) {
    word.remove_prefix(2);
    base = 16;
  }
  const auto value = whole_number<std::uint64_t>(word, base);
  return value && negative ? 0 - *value : value;
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
