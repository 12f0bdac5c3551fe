#include "plugin/stolen_time.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace ringside::plugin {
namespace {

constexpr std::uint64_t kAWaitNs = 50'000;
constexpr unsigned kLooksAReading = 16;

}  // namespace

void ThreadClocks::begin() {
  wait_ = wire::HostWait("/proc/thread-self/schedstat");
  if (::pthread_getcpuclockid(::pthread_self(), &used_) != 0) used_ = CLOCK_THREAD_CPUTIME_ID;
}

std::uint64_t ThreadClocks::now_ns() const { return monotonic_ns(); }
std::uint64_t ThreadClocks::used_ns() const { return clock_ns(used_); }

void StolenTime::begin() {
  clocks_->begin();
  looked_at_ns_ = clean_from_ns_ = clocks_->now_ns();
  used_ns_ = clocks_->used_ns();
  waited_before_.store(clocks_->waited_ns(), std::memory_order_relaxed);
}

void StolenTime::poll(std::uint64_t due_ns, bool is_late) {
  set_due(due_ns);
  is_late_.store(is_late, std::memory_order_relaxed);
  waited_before_.store(clocks_->waited_ns(), std::memory_order_relaxed);
  polled_at_ns_.store(clocks_->now_ns(), std::memory_order_relaxed);
  used_before_ns_.store(clocks_->used_ns(), std::memory_order_relaxed);
  was_polled_.store(true, std::memory_order_release);
}

// Where a thread ran without a gap since it looked last, no text has to be read. Else it has
// waited, or slept, and only the kernel knows which. A wait that ended right behind the poll shows
// no gap since then, but it counts when it ends.
StolenTime::Found StolenTime::found() {
  const std::uint64_t due = due_ns_.load(std::memory_order_relaxed);
  const bool was_polled = was_polled_.exchange(false, std::memory_order_acquire);
  const std::uint64_t now = clocks_->now_ns();
  const std::uint64_t used = clocks_->used_ns();
  const bool has_gap =
      now - std::exchange(looked_at_ns_, now) >= used - std::exchange(used_ns_, used) + kAWaitNs;
  const Found gap = judge(has_gap, was_polled, now, used);
  if (gap != Found::kRan) {
    clean_from_ns_ = now;
    before_that_ = gap;
  } else if (has_gap && was_polled) {
    clean_from_ns_ = std::max(clean_from_ns_, due);
  }
  return due < clean_from_ns_ ? before_that_ : Found::kRan;
}

StolenTime::Found StolenTime::judge(bool has_gap, bool was_polled, std::uint64_t now_ns,
                                    std::uint64_t used_ns) {
  const bool reads = has_gap || (!was_polled && ++looks_ % kLooksAReading == 0);
  const bool waited = reads && waited_since_reading();
  if (!has_gap) return Found::kRan;
  if (was_polled && is_late_.load(std::memory_order_relaxed)) return Found::kReportedLate;
  if (waited) return Found::kWaited;
  return was_polled && was_off_since_poll(now_ns, used_ns) ? Found::kSlept : Found::kRan;
}

bool StolenTime::was_off_since_poll(std::uint64_t now_ns, std::uint64_t used_ns) const {
  const std::uint64_t used = used_ns - used_before_ns_.load(std::memory_order_relaxed);
  return now_ns - polled_at_ns_.load(std::memory_order_relaxed) >= used + kAWaitNs;
}

// Since the last reading. Between two the time grows by gaps of less than 50 µs each, too, so a
// reading without a gap now and then starts anew.
bool StolenTime::waited_since_reading() {
  const std::uint64_t waited = clocks_->waited_ns();
  return waited > waited_before_.exchange(waited, std::memory_order_relaxed) + kAWaitNs;
}

}  // namespace ringside::plugin
