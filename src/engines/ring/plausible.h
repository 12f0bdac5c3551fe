#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ringside::engines::ring {

// How far the counters of a CPU's records can get: one that is further is damaged, or its guest is
// hostile. Far more than any CPU does, which needs a microsecond for a record. Not safe from
// several threads.
class PlausibleGrowth {
 public:
  // `since_ns`, monotonic: from when on the guest may have counted.
  explicit PlausibleGrowth(std::uint64_t since_ns = 0) : then_ns_(since_ns) {}

  // Whether a counter can have grown by `records` from the last call until now. A jump on top of
  // the pace is allowed anew only after a time without jumps.
  [[nodiscard]] bool allows(std::uint64_t records, std::uint64_t now_ns) {
    const std::uint64_t most = at_once_ + (now_ns - std::exchange(then_ns_, now_ns)) / kLeastNs;
    at_once_ = std::min(kAtOnce, most - std::min(most, records));
    return records <= most;
  }

 private:
  static constexpr std::uint64_t kLeastNs = 50;  // for a record
  static constexpr std::uint64_t kAtOnce = 1 << 20;

  std::uint64_t then_ns_;
  std::uint64_t at_once_ = kAtOnce;
};

// How much earlier than ringside has seen them a guest may have begun with its rings.
inline constexpr std::uint64_t kGuestsStartNs = 10'000'000'000;

}  // namespace ringside::engines::ring
