#include "app/messages.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "base/text_width.h"

namespace ringside::app {
namespace {

// Cells of a line that does not wrap, at this moment: a window may be resized.
std::size_t progress_width() {
  constexpr std::size_t kUsual = 80;
  constexpr std::size_t kLeast = 20;
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return std::max<std::size_t>(kLeast, is_known ? size.ws_col : kUsual) - 1;
}

}  // namespace

void say(std::string_view line) { say_lines(printable_line(line)); }

void say_lines(std::string_view text) {
  const std::string lines = printable_text(text) + "\n";
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

ProgressLine::ProgressLine(bool allowed) : on_(allowed && ::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(const std::string& text) {
  if (!on_) return;
  const std::string line = cut_end(printable_line(text), progress_width());
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace ringside::app
