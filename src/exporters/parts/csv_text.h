#pragma once

#include <string>
#include <string_view>

namespace ringside::exporters {

// A text as a field of a line of CSV, with quotes where it needs them (RFC 4180). One that a
// spreadsheet takes for a formula gets an apostrophe in front, with which it is a text there, and
// so does what stands behind a semicolon or a tab, where some spreadsheets begin another cell
// (OWASP, "CSV injection"). Numbers do not go through this: -1 stays -1.
[[nodiscard]] inline std::string csv_text(std::string_view text) {
  constexpr std::string_view kFormula = "=+-@\t\r\n";
  std::string defused;
  bool begins_cell = true;
  for (const char c : text) {
    if (begins_cell && kFormula.find(c) != kFormula.npos) defused += '\'';
    defused += c;
    begins_cell = c == ';' || c == '\t';
  }
  if (defused.find_first_of(",;\"\t\r\n") == std::string::npos) return defused;
  std::string quoted = "\"";
  for (const char c : defused) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace ringside::exporters
