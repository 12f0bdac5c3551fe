#pragma once

#include <cstdint>

namespace ringside::engines {

// How long the guest has stood still because it was stopped for us, all times together, whatever
// has become of what it was stopped for. Nanoseconds; times are of the monotonic clock.
class HeldTime {
 public:
  // It was asked to stop then, or as is known later, it had stopped then.
  void begin(std::uint64_t since_ns) { since_ns_ = since_ns; }
  // It was not for us.
  void cancel() { since_ns_ = 0; }
  void end(std::uint64_t now_ns) {
    if (since_ns_ != 0) end_after(now_ns > since_ns_ ? now_ns - since_ns_ : 0);
  }
  // Its length is known otherwise.
  void end_after(std::uint64_t length_ns) {
    if (since_ns_ == 0) return;
    ++count_;
    total_ns_ += length_ns;
    last_ns_ = length_ns;
    since_ns_ = 0;
  }
  // How long it stood still the last time.
  [[nodiscard]] std::uint64_t last_ns() const { return last_ns_; }
  [[nodiscard]] std::uint64_t total_ns() const { return total_ns_; }
  // How many times.
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  std::uint64_t since_ns_ = 0;  // 0: it is not held
  std::uint64_t last_ns_ = 0;
  std::uint64_t total_ns_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace ringside::engines
