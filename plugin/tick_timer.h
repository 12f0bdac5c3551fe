#pragma once

#include <signal.h>
#include <time.h>

#include <cstdint>

namespace ringside::plugin {

// A timer of the host's that interrupts one thread of this process with a signal. The handler runs
// in that thread, as soon as the host runs it: no other thread has to be run in time, and a tick
// that was due while the thread waited for a processor is noticed when it has got one. A timer of
// the thread's own processor time would not do: Linux looks at those at its scheduler's ticks only,
// every 4 ms on Debian.
class TickTimer {
 public:
  // What is called at a tick: async-signal-safe.
  using OnTick = void (*)(void* self, unsigned vcpu);

  // In the thread that is to be interrupted, once; the timer must stay where it is, for good.
  // False, with a line on standard error, where there can be no timer.
  [[nodiscard]] bool begin(OnTick on_tick, void* self, unsigned vcpu);
  // Interrupts the thread once, at `due_ns` of CLOCK_MONOTONIC or, where that has passed, now. From
  // any thread, and from the handler.
  void set(std::uint64_t due_ns) const;

 private:
  static void handle(int signal, siginfo_t* info, void*);

  OnTick on_tick_ = nullptr;
  void* self_ = nullptr;
  unsigned vcpu_ = 0;
  timer_t timer_{};
};

}  // namespace ringside::plugin
