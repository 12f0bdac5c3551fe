#include "exporters/xml.h"

#include <algorithm>

namespace ringside::exporters {
namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

}  // namespace

std::string xml_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string shorten(std::string_view text, std::size_t room) {
  const auto characters =
      static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
  if (characters <= room) return std::string(text);
  if (room == 0) return {};
  std::size_t end = 0;
  for (std::size_t kept = 0; end < text.size(); ++end)
    if (starts_character(text[end]) && kept++ == room - 1) break;
  return std::string(text.substr(0, end)) + "\xe2\x80\xa6";
}

}  // namespace ringside::exporters
