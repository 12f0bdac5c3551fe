#pragma once

#include <algorithm>
#include <string_view>

namespace ringside::memory {

// The next word of a line, which is shortened by it. Words are parted by spaces.
inline std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace ringside::memory
