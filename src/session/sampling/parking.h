#pragma once

#include <atomic>

#include "base/clock.h"

namespace ringside::session {

// Where the sampling thread waits, the guest running, while ringside is suspended. One other thread
// asks for it, holds the thread there while the process is suspended, and lets it go on.
class Parking {
 public:
  // From now on the sampling thread parks at its next chance.
  void ask() { change(State::kRuns, State::kAsked); }
  [[nodiscard]] bool is_asked() const { return state_.load() == State::kAsked; }
  // True if the sampling thread is parked, and stays so until let_go().
  [[nodiscard]] bool hold() { return change(State::kParked, State::kHeld); }
  // The process is about to be suspended, parked or not.
  void note_suspension() { suspensions_.fetch_add(1); }
  void let_go() { state_.store(State::kRuns); }

  // Called by the sampling thread while the guest runs: waits if it was asked to, until it is let
  // go or, where it is not held, `is_over` becomes true. True if it has waited.
  bool park_if_asked(const std::atomic<bool>& is_over) {
    if (!change(State::kAsked, State::kParked)) return false;
    constexpr std::uint64_t kPauseNs = 5'000'000;
    while (state_.load() == State::kParked || state_.load() == State::kHeld) {
      if (is_over.load(std::memory_order_relaxed) && change(State::kParked, State::kRuns)) break;
      sleep_ns(kPauseNs);
    }
    return true;
  }
  // How often the process has been suspended: what took time meanwhile was not slow.
  [[nodiscard]] unsigned suspensions() const { return suspensions_.load(); }

 private:
  enum class State { kRuns, kAsked, kParked, kHeld };
  bool change(State from, State to) { return state_.compare_exchange_strong(from, to); }

  std::atomic<State> state_{State::kRuns};
  std::atomic<unsigned> suspensions_{0};
};

}  // namespace ringside::session
