#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// Text from outside (a guest's names, recordings, monitors, files) as a terminal, a page and a file
// may get it. A control character becomes a space; a byte that is not UTF-8, a C1 control, and a
// character that changes the direction or the lines of the text around it become U+FFFD.
namespace ringside {

// Two lower-case digits a byte, as build ids and the packets of gdb have them.
[[nodiscard]] std::string hex_text(std::span<const std::byte> bytes);

// The length of the UTF-8 sequence at the front of `text`, which is not empty. 0: there is none, or
// one that XML forbids or that is not to be shown (a C1 control, a direction mark or override, a
// line or paragraph separator, a byte order mark). Control characters of ASCII have length 1.
[[nodiscard]] std::size_t shown_length(std::string_view text);
// How many bytes at the front of `text` are printable ASCII.
[[nodiscard]] std::size_t plain_length(std::string_view text);

// One line: line ends and tabs become spaces too.
[[nodiscard]] std::string printable_line(std::string_view text);

// The same for text that comes in pieces, which may part a character. Line ends and tabs stay.
class TextFilter {
 public:
  // Appends to `out` what may be shown of `text`, and of what was held back before it.
  void add(std::string_view text, std::string& out);
  // Behind the last piece: what was held back is no character.
  void finish(std::string& out);

 private:
  std::string held_;  // the bytes of a character that may go on in the next piece
};

// Text of any number of lines, whole.
[[nodiscard]] std::string printable_text(std::string_view text);

}  // namespace ringside
