#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

// Takes the first line off a text. Returns it without its end, which is "\n" or "\r\n".
[[nodiscard]] inline std::string_view take_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Takes the first word off a line, with the blanks before it. Returns an empty one at the end.
[[nodiscard]] inline std::string_view take_word(std::string_view& line,
                                                std::string_view blanks = " ") {
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(blanks)));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

// The parts of a text: one more than it has separators.
[[nodiscard]] inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace ringside
