#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "base/clock.h"

namespace ringside::engines {

// How long a stub or a monitor is waited for.
struct Patience {
  static constexpr std::chrono::milliseconds kUsual{2000};
  std::chrono::milliseconds timeout{kUsual};  // for one answer, and for the guest to stop
  // Asked from the calling thread some ten times a second while an answer is waited for, and before
  // requests. Once it is true nothing more is waited for but the detach: kDisturbed.
  std::function<bool()> is_over = {};

  [[nodiscard]] bool over() const { return is_over && is_over(); }
};

// Sleeps for 1 to 3 ms, and never the same time twice in a row: a guest's timer must not be met in
// step. `tries`: how many there were.
inline void rest_between_tries(unsigned tries) {
  sleep_ns(1'000'000 + std::uint64_t{tries % 61} * 37'000);
}

}  // namespace ringside::engines
