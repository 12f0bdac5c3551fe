#include "app/messages.h"

#include <unistd.h>

#include <cstdio>

#include "base/text.h"

namespace ringside::app {

void say(std::string_view line) { say_lines(printable_line(line)); }

void say_lines(std::string_view text) {
  const std::string lines = printable_text(text) + "\n";
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

ProgressLine::ProgressLine(bool allowed) : on_(allowed && ::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const std::string& text) {
  if (!on_) return;
  std::fprintf(stderr, "\r%s\033[K", printable_line(text).c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace ringside::app
