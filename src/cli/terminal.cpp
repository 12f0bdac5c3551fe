#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

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

bool output_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

std::size_t line_width() {
  constexpr std::size_t kUsual = 80;
  constexpr std::size_t kLeast = 40;
  const char* const columns = std::getenv("COLUMNS");
  const std::string_view text = columns == nullptr ? "" : columns;
  std::size_t width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  if (error == std::errc() && end == text.data() + text.size() && width > 0)
    return std::max(kLeast, width);
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return std::max<std::size_t>(kLeast, is_known ? size.ws_col : kUsual);
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
