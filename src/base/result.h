#pragma once

#include <fmt/core.h>

#include <cerrno>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace ringside {

// Kind of error, for code that has to decide. People read the message.
enum class ErrorCode {
  kUsage,        // the caller asked for something that makes no sense
  kIo,           // the host's operating system refused; the message carries errno's text
  kNotFound,     // a file, socket, symbol or section that is not there
  kFormat,       // bytes that are not what they claim to be; the message carries the offset
  kTruncated,    // bytes that end too early
  kUnsupported,  // understood, and not handled
  kProtocol,     // the other side of a socket broke its protocol
  kClosed,       // the other side is gone
  kTimeout,      // the other side did not answer in time
  kMismatch,     // two things that must belong together do not
  kUnreadable,   // guest memory that is not mapped; the message carries the address
  kDisturbed,    // somebody else came in between; the next try may succeed
  kMigrating,    // the guest is being migrated or saved, and is left alone until that has ended
  kMoved,        // the guest has been migrated: it is not here any more
};

// One clear message: what was wrong, where (file, offset, address), and what to do.
struct Error {
  ErrorCode code;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

// Out of line, because formatting that is compiled where it is used was half of what compiling
// cost.
[[nodiscard]] tl::unexpected<Error> fail_with(ErrorCode code, fmt::string_view format,
                                              fmt::format_args args);

template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format,
                                         Args&&... args) {
  return fail_with(code, format, fmt::make_format_args(args...));
}

// An error of the operating system: "<what>: <text of errno>".
[[nodiscard]] tl::unexpected<Error> fail_errno(const std::string& what, int error = errno);

}  // namespace ringside

// RINGSIDE_TRY(expr): returns the error of a Result<void> to the caller.
#define RINGSIDE_TRY(expr)                                                            \
  do {                                                                                \
    if (auto ringside_result = (expr); !ringside_result)                              \
      return ::tl::unexpected<::ringside::Error>(std::move(ringside_result).error()); \
  } while (false)

#define RINGSIDE_CONCAT_(a, b) a##b
#define RINGSIDE_CONCAT(a, b) RINGSIDE_CONCAT_(a, b)
#define RINGSIDE_ASSIGN_(temporary, declaration, expr)                                      \
  auto temporary = (expr);                                                                  \
  if (!temporary) return ::tl::unexpected<::ringside::Error>(std::move(temporary).error()); \
  declaration = std::move(*temporary)

// RINGSIDE_ASSIGN(auto x, expr): declares x from a Result<T>, or returns its error to the caller.
#define RINGSIDE_ASSIGN(declaration, expr) \
  RINGSIDE_ASSIGN_(RINGSIDE_CONCAT(ringside_tmp_, __LINE__), declaration, expr)
