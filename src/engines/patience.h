#pragma once

#include <chrono>
#include <functional>

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

}  // namespace ringside::engines
