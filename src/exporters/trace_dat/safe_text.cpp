#include "exporters/trace_dat/safe_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace ringside::exporters::trace_dat {
namespace {

// Whether a byte of UTF-8 is a character's, but not its first.
bool goes_on(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

std::string identifier(std::string_view name, std::set<std::string>& taken) {
  constexpr std::size_t kMost = 64;
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  std::string word;
  for (const char letter : printable_line(name.substr(0, kMost))) {
    if (goes_on(letter)) continue;
    const bool is_allowed =
        kDigits.find(letter) != kDigits.npos || kLetters.find(letter) != kLetters.npos;
    word += is_allowed ? letter : '_';
  }
  if (word.empty() || kDigits.find(word.front()) != kDigits.npos) word.insert(0, 1, '_');
  std::string unique = word;
  for (int number = 2; !taken.insert(unique).second; ++number)
    unique = fmt::format("{}_{}", word, number);
  return unique;
}

std::string symbol_word(std::string_view name) {
  std::string word = printable_line(name);
  std::replace(word.begin(), word.end(), ' ', '_');
  if (word.empty() || word.front() == '$') word.insert(0, 1, '_');
  return word;
}

std::string command_line_name(std::string_view name) {
  std::string text = printable_line(name);
  if (text.empty()) return "_";
  for (std::size_t i = 0; i < text.size() && text[i] == ' '; ++i) text[i] = '_';
  return text;
}

std::string_view fitting(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && goes_on(text[most])) --most;
  return text.substr(0, most);
}

}  // namespace ringside::exporters::trace_dat
