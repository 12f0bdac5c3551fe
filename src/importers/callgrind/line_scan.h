#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ringside::importers::callgrind {

// The lines of a text. A carriage return before a line's end is no part of it.
class LineScan {
 public:
  explicit LineScan(std::string_view text) : text_(text) {}
  [[nodiscard]] bool next(std::string_view& line);
  // Where that line begins, and its number from 1.
  [[nodiscard]] std::size_t offset() const { return begin_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  std::string_view text_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;  // of that line, with its end
  std::uint64_t number_ = 0;
};

// Takes the word at the front of `rest`, and the blanks before it. Empty at the end.
[[nodiscard]] std::string_view take_word(std::string_view& rest);

// "name=value" and "name: value", as all lines but costs and comments are. The name is of lower
// case letters, and empty where the line is none of these. The value has no blanks before it.
struct Setting {
  std::string_view name;
  char mark = 0;  // '=' or ':'
  std::string_view value;
};
[[nodiscard]] Setting setting_of(std::string_view line);

// A decimal number, or a hexadecimal one behind "0x". False where the word is none, or too large.
[[nodiscard]] bool parse_number(std::string_view word, std::uint64_t& number);

}  // namespace ringside::importers::callgrind
