#include "wire/sample_clock.h"

#include <algorithm>

namespace ringside::wire {

SampleClock::SampleClock(std::uint64_t start_ns, std::uint64_t interval_ns, bool jitter,
                         std::uint64_t seed)
    : start_(start_ns),
      interval_(std::max<std::uint64_t>(interval_ns, 1)),
      jitter_(jitter),
      random_(seed) {
  plan(0);
}

void SampleClock::plan(std::uint64_t index) {
  index_ = index;
  // Without jitter the tick stands at the end of its interval, as a plain timer's does.
  const std::uint64_t offset = jitter_ ? random_() % interval_ : interval_;
  due_ = start_ + index * interval_ + offset;
}

std::uint64_t SampleClock::open_interval(std::uint64_t now_ns) const {
  const std::uint64_t current = now_ns > start_ ? (now_ns - start_) / interval_ : 0;
  // Without jitter the tick of interval k is due when k ends, so that k - 1 is the one still open.
  return jitter_ || current == 0 ? current : current - 1;
}

void SampleClock::advance(std::uint64_t now_ns) {
  const std::uint64_t next = std::max(index_ + 1, open_interval(now_ns));
  missed_ += next - (index_ + 1);
  plan(next);
}

void SampleClock::pass(std::uint64_t now_ns) {
  const std::uint64_t open = open_interval(now_ns);
  if (open <= index_) return;
  missed_ += open - index_;
  plan(open);
}

void SampleClock::skip_to(std::uint64_t now_ns) {
  start_ = now_ns;
  plan(0);
}

}  // namespace ringside::wire
