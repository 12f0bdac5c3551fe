#pragma once

#include <string>
#include <string_view>

namespace ringside::app {

// Messages to people while ringside works, on standard error. Whatever stands in texts from
// outside, a terminal gets nothing that drives it (base/text.h).

// One line; line ends in it become spaces.
void say(std::string_view line);
// Several, the last without its line end.
void say_lines(std::string_view text);

// A line that is overwritten, shown on a terminal only, and cut at its width.
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

}  // namespace ringside::app
