#pragma once

#include <string>
#include <string_view>

namespace ringside::cli {

// One line on standard error.
void say(std::string_view text);

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
