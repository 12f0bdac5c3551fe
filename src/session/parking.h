#pragma once

#include <atomic>
#include <ctime>

namespace ringside::session {

// Where the sampling thread waits, the guest running, while ringside is suspended. One other thread
// asks for it and lets it go on.
class Parking {
 public:
  // From now on the sampling thread parks at its next chance.
  void ask() {
    State expected = State::kRuns;
    state_.compare_exchange_strong(expected, State::kAsked);
  }
  [[nodiscard]] bool is_parked() const { return state_.load() == State::kParked; }
  // The process is about to be suspended, parked or not.
  void note_suspension() { suspensions_.fetch_add(1); }
  void let_go() { state_.store(State::kRuns); }

  // Of the sampling thread, while the guest runs: waits if it was asked to, until it is let go or
  // `is_over` becomes true. True if it has waited.
  bool park_if_asked(const std::atomic<bool>& is_over) {
    State expected = State::kAsked;
    if (!state_.compare_exchange_strong(expected, State::kParked)) return false;
    constexpr timespec kPause{0, 5'000'000};
    while (is_parked() && !is_over.load(std::memory_order_relaxed)) ::nanosleep(&kPause, nullptr);
    return true;
  }
  // How often the process has been suspended: what took time meanwhile was not slow.
  [[nodiscard]] unsigned suspensions() const { return suspensions_.load(); }

 private:
  // kParked is left by let_go() only, so that what it has promised holds until then.
  enum class State { kRuns, kAsked, kParked };
  std::atomic<State> state_{State::kRuns};
  std::atomic<unsigned> suspensions_{0};
};

}  // namespace ringside::session
