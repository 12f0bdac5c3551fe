#pragma once

namespace ringside {

// As long as one lives, a signal that would end this process waits: SIGHUP, SIGINT, SIGQUIT and
// SIGTERM. It ends the process when the last one is destroyed. For the moments in which a temporary
// file has a name. Signals that are handled or ignored already stay so.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

  // Whether one has come: what takes long ends then.
  [[nodiscard]] static bool is_one_waiting();
};

}  // namespace ringside
