#include "base/text_width.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/text.h"

namespace ringside {
namespace {

constexpr std::string_view kCut = "…";

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// wcwidth() needs a locale, and knows nothing in "C". These are the blocks of Unicode 15's
// EastAsianWidth.txt with the values W and F, and of its combining marks those in common use.
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
constexpr Range kNarrowest[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff}, {0x200b, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

template <std::size_t N>
bool is_in(const Range (&ranges)[N], std::uint32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges), [code](const Range& range) {
    return code >= range.first && code <= range.last;
  });
}

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
  const std::uint32_t code = code_of(character);
  return is_in(kNarrowest, code) ? 0 : is_in(kWide, code) ? 2 : 1;
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
  while (!text.empty()) {
    const std::string_view character = first_character(text);
    cells += width_of(character);
    text.remove_prefix(character.size());
  }
  return cells;
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
  // What is left is not measured: that would take the square of its length.
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
