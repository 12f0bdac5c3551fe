#pragma once

#include <cstdint>
#include <optional>

namespace ringside::engines::ring {

// Places the guest's counter on the host's clock. A record is read some milliseconds after it was
// written, never before: the shortest delay that was seen places the two. The guest's counter may
// stand still while the guest does.
class RingClock {
 public:
  // `hz`: the counter's rate; 0: it is measured, between the first look and the newest.
  explicit RingClock(double hz) : given_hz_(hz), hz_(hz) {}

  // The newest of the guest's times that were read at a moment of the host's clock.
  void look(std::uint64_t counter, std::uint64_t host_ns);

  // The host's time of a counter; never later than that of the last look. Not before the first.
  [[nodiscard]] std::uint64_t host_ns(std::uint64_t counter) const;
  // 0 as long as it is not known.
  [[nodiscard]] double hz() const { return hz_; }

 private:
  struct Look {
    std::uint64_t counter = 0;
    std::uint64_t host_ns = 0;
  };
  // The later of two looks, by the counter's rate, where the first was of no delay.
  [[nodiscard]] double predicted_ns(const Look& from, std::uint64_t counter) const;

  double given_hz_;
  double hz_;
  std::optional<Look> first_;
  Look last_;
  Look base_;  // of the shortest delay since the clock last stood still
};

}  // namespace ringside::engines::ring
