#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace ringside::cli {

// The command of the pager that the user wants, for the shell: $RINGSIDE_PAGER, $PAGER, else less
// where there is one. Empty: none is wanted (empty or "cat", or a dumb terminal).
[[nodiscard]] std::string wanted_pager();
// Whether that pager hands on colours, as $LESS says.
[[nodiscard]] bool pager_shows_colours(const std::string& pager);

// A pager that runs. While it does, Ctrl-C is for it alone, and a write to it after its end fails
// with kClosed.
class Pager {
 public:
  [[nodiscard]] static Result<Pager> start(const std::string& command);
  Pager(Pager&& other) noexcept;
  Pager& operator=(Pager&&) = delete;
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;
  ~Pager() { wait(); }

  // Where the text goes. The pager has all of it when this is closed.
  [[nodiscard]] UniqueFd take_input() { return std::move(input_); }
  // Until the user has left it. False: the shell could not run the command.
  bool wait();

 private:
  Pager() = default;
  void ignore_signals();

  static constexpr std::array kIgnored = {SIGINT, SIGQUIT, SIGPIPE};

  pid_t pid_ = 0;  // 0: none runs
  UniqueFd input_;
  std::array<struct sigaction, kIgnored.size()> before_{};
};

}  // namespace ringside::cli
