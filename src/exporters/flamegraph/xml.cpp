#include "exporters/flamegraph/xml.h"

namespace ringside::exporters {
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

std::string xml_escape_lines(std::string_view text) {
  std::string out;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos;) {
    out += xml_escape(text.substr(0, end)) + '\n';
    text.remove_prefix(end + 1);
  }
  return out + xml_escape(text);
}

}  // namespace ringside::exporters
