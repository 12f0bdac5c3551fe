#include "base/text_width.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cstdint>

#include "base/text.h"

namespace ringside {
namespace {

constexpr std::string_view kCut = "…";

// wcwidth() knows nothing of Unicode in the process's locale, which is "C": this one is the calling
// thread's for as long as an object lives. Debian's C library always has it; without it every
// character is taken for one cell wide.
class Utf8Locale {
 public:
  Utf8Locale() {
    static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    is_there_ = locale != nullptr;
    if (is_there_) before_ = ::uselocale(locale);
  }
  ~Utf8Locale() {
    if (is_there_) ::uselocale(before_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  bool is_there_ = false;
  locale_t before_ = nullptr;
};

std::uint32_t code_of(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  std::uint32_t code = character.size() == 1 ? lead : lead & (0x7fu >> character.size());
  for (const char byte : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(byte) & 0x3fu);
  return code;
}

// The character at the front of `text`; one byte where it is none.
std::string_view first_character(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(1, shown_length(text)));
}

std::size_t width_of(std::string_view character) {
  if (character.size() == 1) return 1;
  const Utf8Locale utf8;
  const int width = ::wcwidth(static_cast<wchar_t>(code_of(character)));
  return width < 0 ? 1 : static_cast<std::size_t>(width);  // one that Unicode did not know yet
}

// How many bytes at the front of `text` fit into `cells`.
std::size_t fitting(std::string_view text, std::size_t cells) {
  std::size_t bytes = 0;
  for (std::size_t used = 0; bytes < text.size();) {
    const std::string_view character = first_character(text.substr(bytes));
    used += width_of(character);
    if (used > cells) break;
    bytes += character.size();
  }
  return bytes;
}

// The shortest front of `text` behind which at most `cells` are left.
std::size_t front_before(std::string_view text, std::size_t cells) {
  std::size_t left = cells_of(text);
  std::size_t bytes = 0;
  while (bytes < text.size() && left > cells) {
    const std::string_view character = first_character(text.substr(bytes));
    left -= width_of(character);
    bytes += character.size();
  }
  return bytes;
}

}  // namespace

std::size_t cells_of(std::string_view text) {
  std::size_t cells = 0;
  while (true) {
    const std::size_t plain = plain_length(text);
    cells += plain;
    text.remove_prefix(plain);
    if (text.empty()) return cells;
    const std::string_view character = first_character(text);
    cells += width_of(character);
    text.remove_prefix(character.size());
  }
}

std::string cut_middle(std::string_view text, std::size_t cells) {
  if (cells_of(text) <= cells) return std::string(text);
  const std::size_t tail = (cells - 1) / 2;
  const std::string_view front = text.substr(0, fitting(text, cells - 1 - tail));
  std::string cut(front);
  cut += kCut;
  return cut.append(text.substr(front_before(text, tail)));
}

std::string cut_end(std::string_view text, std::size_t cells) {
  if (cells_of(text) <= cells) return std::string(text);
  return std::string(text.substr(0, fitting(text, cells - 1))).append(kCut);
}

std::vector<std::string> wrap(std::string_view text, std::size_t cells) {
  std::vector<std::string> lines;
  // The remaining text is not measured: that would take time quadratic in its length.
  for (std::size_t fits; (fits = fitting(text, cells)) < text.size();) {
    const std::size_t most = std::max(fits, first_character(text).size());
    // A space right behind what fits will do, too.
    std::size_t end = text.substr(0, most + 1).rfind(' ');
    if (end == text.npos || text.find_first_not_of(' ') > end) end = most;
    const std::size_t last = text.substr(0, end).find_last_not_of(' ');
    lines.emplace_back(text.substr(0, last == text.npos ? end : last + 1));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace ringside
