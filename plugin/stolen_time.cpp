#include "plugin/stolen_time.h"

#include <algorithm>
#include <utility>

namespace ringside::plugin {
namespace {

// Less is what interrupts and other threads' moments take.
constexpr std::uint64_t kWaitedNs = 50'000;

}  // namespace

void StolenTime::begin(wire::HostWait wait) {
  wait_ = std::move(wait);
  waited_ns_ = wait_.total_ns();
}

void StolenTime::look(std::uint64_t now, std::uint64_t used) {
  const Moment moment{now, used};
  const std::uint64_t away = looked_at_.away_until(moment);
  looked_at_ = moment;
  has_waited_ = false;
  if (asked_at_.away_until(moment) > kWaitedNs) {
    asked_at_ = moment;
    const std::uint64_t waited = std::max(wait_.total_ns(), waited_ns_);
    has_waited_ = std::min(waited - waited_ns_, away) > kWaitedNs;
    not_taken_ns_ += waited - waited_ns_;
    waited_ns_ = waited;
  }
  own_ns_ = now - std::min(waited_ns_, now);
}

std::uint64_t StolenTime::take_intervals(std::uint64_t interval_ns) {
  const std::uint64_t intervals = not_taken_ns_ / interval_ns;
  not_taken_ns_ %= interval_ns;
  return intervals;
}

}  // namespace ringside::plugin
