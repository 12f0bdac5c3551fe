#include "cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
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

// open() gives the lowest number that is free.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0)
      (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void print(std::string_view text) {
  Result<void>& result = first_failure();
  if (result) result = write_all(STDOUT_FILENO, as_bytes(printable_text(text)), "standard output");
}

Result<void> print_result() { return first_failure(); }

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

}  // namespace ringside::cli
