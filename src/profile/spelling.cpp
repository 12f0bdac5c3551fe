#include "profile/spelling.h"

#include <fmt/format.h>

#include <cstdint>

namespace ringside::profile {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// The length of the UTF-8 sequence at the front of `text`; 0 where there is none that XML allows:
// overlong forms, surrogates, C1 controls and U+FFFE/U+FFFF are none.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length <= 1) return length;
  if (text.size() < length) return 0;
  std::uint32_t code = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  }
  constexpr std::uint32_t kFirst[] = {0, 0, 0xa0, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool good =
      code >= kFirst[length] && code < 0x110000 && !surrogate && code != 0xfffe && code != 0xffff;
  return good ? length : 0;
}

}  // namespace

std::string unknown_name(GuestVirt address) {
  return fmt::format("<unknown:{:#x}>", address.value);
}

std::string unnamed_thread(std::uint32_t tid) { return fmt::format(":{}", tid); }

std::string spell(std::string_view name) {
  if (name.empty()) return "[empty name]";
  std::string out;
  out.reserve(name.size());
  while (!name.empty()) {
    const char c = name[0];
    std::size_t length = sequence_length(name);
    if (length == 0) {
      out += kReplacement;
      length = 1;
    } else if (c == ';') {
      out += ':';
    } else if (length == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)) {
      out += ' ';
    } else {
      out += name.substr(0, length);
    }
    name.remove_prefix(length);
  }
  return out;
}

std::string with_line(std::string_view name, std::string_view file, std::uint32_t line) {
  file.remove_prefix(file.rfind('/') + 1);
  return fmt::format("{} {}:{}", name, spell(file), line);
}

std::string with_address(std::string_view name, GuestVirt address) {
  return fmt::format("{} [{:#x}]", name, address.value);
}

}  // namespace ringside::profile
