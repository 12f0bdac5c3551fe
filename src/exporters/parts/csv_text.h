#pragma once

#include <string>
#include <string_view>

namespace ringside::exporters {

// A text as a field of a line of CSV, with quotes where it needs them (RFC 4180). One that a
// spreadsheet takes for a formula gets an apostrophe in front, with which it is a text there
// (OWASP, "CSV injection"). Numbers do not go through this: -1 stays -1.
[[nodiscard]] inline std::string csv_text(const std::string& text) {
  constexpr std::string_view kFormula = "=+-@\t\r\n";
  const bool is_formula = !text.empty() && kFormula.find(text.front()) != std::string_view::npos;
  const std::string defused = is_formula ? "'" + text : text;
  if (defused.find_first_of(",\"\r\n") == std::string::npos) return defused;
  std::string quoted = "\"";
  for (const char c : defused) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace ringside::exporters
