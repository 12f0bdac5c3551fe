#include "base/text.h"

#include <cstdint>
#include <cstring>

namespace ringside {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; }

// Length in bytes of a UTF-8 sequence that begins with `byte`; 0: none begins so.
std::size_t length_by_lead(char byte) {
  const auto lead = static_cast<unsigned char>(byte);
  return lead < 0x80   ? 1
         : lead < 0xc2 ? 0
         : lead < 0xe0 ? 2
         : lead < 0xf0 ? 3
         : lead < 0xf5 ? 4
                       : 0;
}

// Direction marks, overrides and isolates (UAX #9), separators, and the byte order mark.
bool changes_text_around(std::uint32_t code) {
  return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

// The first byte at or behind `from` that is not plain ASCII.
std::size_t find_special(std::string_view text, std::size_t from) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kOnes;
  for (std::uint64_t word = 0; from + sizeof word <= text.size(); from += sizeof word) {
    std::memcpy(&word, text.data() + from, sizeof word);
    const std::uint64_t below_space = (word - 0x20 * kOnes) & ~word;
    const std::uint64_t above_tilde = (word + kOnes) | word;  // 0x7f and above
    if (((below_space | above_tilde) & kHigh) != 0) break;
  }
  while (from < text.size() && !is_control(text[from]) &&
         static_cast<unsigned char>(text[from]) < 0x80)
    ++from;
  return from;
}

// Whether `text` is the beginning of a sequence that more bytes may complete.
bool is_cut(std::string_view text) {
  if (text.size() >= length_by_lead(text[0])) return false;
  for (const char byte : text.substr(1))
    if (!is_continuation(byte)) return false;
  return true;
}

enum class Lines { kJoin, kKeep };

// Appends what may be shown; returns how many bytes it took: all but a sequence that is cut.
std::size_t append(std::string_view text, Lines lines, std::string& out) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t special = find_special(text, at);
    out.append(text, at, special - at);
    at = special;
    if (at == text.size()) break;
    const char c = text[at];
    const std::size_t length = shown_length(text.substr(at));
    if (is_control(c)) {
      out += lines == Lines::kKeep && (c == '\n' || c == '\t') ? c : ' ';
      ++at;
    } else if (length != 0) {
      out.append(text, at, length);
      at += length;
    } else if (is_cut(text.substr(at))) {
      break;
    } else {
      out += kReplacement;
      ++at;
    }
  }
  return at;
}

void append_replacements(std::size_t count, std::string& out) {
  while (count-- != 0) out += kReplacement;
}

}  // namespace

std::string hex_text(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::size_t plain_length(std::string_view text) { return find_special(text, 0); }

std::size_t shown_length(std::string_view text) {
  const std::size_t length = length_by_lead(text[0]);
  if (length <= 1) return length;
  if (text.size() < length) return 0;
  std::uint32_t code = static_cast<unsigned char>(text[0]) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  }
  constexpr std::uint32_t kFirst[] = {0, 0, 0xa0, 0x800, 0x10000};  // below 0xa0: C1 controls
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool good = code >= kFirst[length] && code < 0x110000 && !surrogate && code != 0xfffe &&
                    code != 0xffff && !changes_text_around(code);
  return good ? length : 0;
}

std::string printable_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_replacements(text.size() - append(text, Lines::kJoin, out), out);
  return out;
}

void TextFilter::add(std::string_view text, std::string& out) {
  while (!held_.empty() && !text.empty()) {  // at most three bytes are held back
    held_ += text[0];
    text.remove_prefix(1);
    held_.erase(0, append(held_, Lines::kKeep, out));
  }
  held_.append(text.substr(append(text, Lines::kKeep, out)));
}

void TextFilter::finish(std::string& out) {
  append_replacements(held_.size(), out);
  held_.clear();
}

std::string printable_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  TextFilter filter;
  filter.add(text, out);
  filter.finish(out);
  return out;
}

}  // namespace ringside
