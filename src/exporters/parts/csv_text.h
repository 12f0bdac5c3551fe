#pragma once

#include <string>

namespace ringside::exporters {

// A text as a field of a line of CSV, with quotes where it needs them (RFC 4180).
[[nodiscard]] inline std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace ringside::exporters
