#include "cli/terminal.h"

#include <unistd.h>

#include <cstdio>

#include "base/file.h"
#include "base/text.h"

namespace ringside::cli {
namespace {

Result<void>& first_failure() {
  static Result<void> result;
  return result;
}

}  // namespace

void print(std::string_view text) {
  Result<void>& result = first_failure();
  if (result) result = write_all(STDOUT_FILENO, as_bytes(printable_text(text)), "standard output");
}

Result<void> print_result() { return first_failure(); }

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

}  // namespace ringside::cli
