#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ringside::cli {

// Whatever stands in texts from outside, a terminal gets nothing that drives it (base/text.h): all
// that ringside says goes through here, through ProgressLine or through an exporter's FileSink.

// Text on standard output, at once. After a first failure nothing more is written.
void print(std::string_view text);
// That failure: print() that cannot write makes the exit status 1, whichever verb it was.
[[nodiscard]] Result<void> print_result();

// One line on standard error; line ends in it become spaces.
void say(std::string_view line);
// Several, the last without its line end.
void say_lines(std::string_view text);

[[nodiscard]] bool output_is_terminal();  // standard output
// Cells of a line: as $COLUMNS says, else as the terminal does that standard output is, else 80;
// at least 40, for less holds no table.
[[nodiscard]] std::size_t line_width();

// A line on standard error that is overwritten, shown on a terminal only.
class ProgressLine {
 public:
  explicit ProgressLine(bool allowed);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);
  void clear();

 private:
  bool on_;
  bool shown_ = false;
};

}  // namespace ringside::cli
