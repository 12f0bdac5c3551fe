#pragma once

#include <signal.h>
#include <sys/types.h>

namespace ringside::app {

// While it lives, SIGTSTP (Ctrl-Z) does not suspend ringside at once, which may hold the guest at
// that moment; it is done when ringside is ready for it, at the latest at this one's end. SIGCONT
// takes it back; a second SIGTSTP suspends ringside at once, ready or not. Where the signal is
// ignored already it stays ignored.
class Suspension {
 public:
  Suspension();
  ~Suspension();
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;

  // SIGTSTP has come since the last now().
  [[nodiscard]] static bool is_wanted();
  // Suspends ringside as the signal would have. Returns when it goes on.
  static void now();

  // While it lives the signal suspends ringside at once: the guest is not held.
  class AtOnce {
   public:
    AtOnce();
    ~AtOnce();
    AtOnce(const AtOnce&) = delete;
    AtOnce& operator=(const AtOnce&) = delete;
  };
};

// Whether a process is suspended (Ctrl-Z, SIGSTOP). False where there is none such.
[[nodiscard]] bool is_suspended(pid_t pid);

}  // namespace ringside::app
