#pragma once

namespace ringside::app {

// Turns SIGINT, SIGTERM, SIGHUP and SIGQUIT into flags for as long as it lives, so that Ctrl-C at
// any moment ends in a whole file and a running guest. SIGPIPE is ignored: a write then fails with
// a message.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  [[nodiscard]] static bool interrupted();  // SIGINT
  // SIGTERM, SIGHUP, SIGQUIT, a SIGINT that is no terminal's Ctrl-C, and a second SIGINT.
  [[nodiscard]] static bool terminated();
};

}  // namespace ringside::app
