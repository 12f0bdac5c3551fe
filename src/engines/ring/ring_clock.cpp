#include "engines/ring/ring_clock.h"

#include <algorithm>

namespace ringside::engines::ring {
namespace {

// Looks come every few milliseconds. A record that comes later than that was not read late: the
// guest's clock has stood still.
constexpr double kStoodStillNs = 100e6;
// A rate is measured over that long at least.
constexpr std::uint64_t kShortestMeasureNs = 20'000'000;

}  // namespace

double RingClock::predicted_ns(const Look& from, std::uint64_t counter) const {
  const auto ticks = static_cast<double>(static_cast<std::int64_t>(counter - from.counter));
  return static_cast<double>(from.host_ns) + ticks * 1e9 / hz_;
}

void RingClock::look(std::uint64_t counter, std::uint64_t host_ns) {
  const Look now{counter, host_ns};
  // CPUs are read one after another: some of a little before come later.
  const double back =
      first_ && counter < last_.counter ? static_cast<double>(last_.counter - counter) : 0;
  const bool goes_back = back > (hz_ == 0 ? static_cast<double>(last_.counter) / 2 : hz_);
  if (back != 0 && !goes_back) {
    last_.host_ns = host_ns;
    return;
  }
  if (!first_ || goes_back) first_ = base_ = now;
  last_ = now;
  if (given_hz_ == 0 && host_ns - first_->host_ns >= kShortestMeasureNs)
    hz_ = static_cast<double>(counter - first_->counter) * 1e9 /
          static_cast<double>(host_ns - first_->host_ns);
  if (hz_ == 0) {
    base_ = now;
    return;
  }
  const double late_ns = static_cast<double>(host_ns) - predicted_ns(base_, counter);
  const bool stood_still = late_ns > kStoodStillNs;
  if (late_ns < 0 || stood_still) base_ = now;
  if (stood_still) first_ = now;  // a rate is that of a clock that runs
}

std::uint64_t RingClock::host_ns(std::uint64_t counter) const {
  if (hz_ == 0) return last_.host_ns;
  const double at = predicted_ns(base_, counter);
  const auto latest = static_cast<double>(last_.host_ns);
  return at <= 0 ? 0 : at >= latest ? last_.host_ns : static_cast<std::uint64_t>(at);
}

}  // namespace ringside::engines::ring
