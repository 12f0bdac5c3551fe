#include "plugin/stolen_time.h"

#include <pthread.h>

#include "base/clock.h"

namespace ringside::plugin {
namespace {

constexpr std::uint64_t kMayHaveWaitedNs = 50'000;
constexpr unsigned kPollsAReading = 16;

}  // namespace

void StolenTime::begin() {
  wait_ = wire::HostWait("/proc/thread-self/schedstat");
  clockid_t clock{};
  if (::pthread_getcpuclockid(::pthread_self(), &clock) == 0) used_.store(clock);
}

void StolenTime::poll(bool is_late) {
  is_late_.store(is_late, std::memory_order_relaxed);
  waited_before_.store(wait_.total_ns(), std::memory_order_relaxed);
  polled_at_.store(monotonic_ns(), std::memory_order_relaxed);
  used_before_.store(clock_ns(used_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
}

// The time that the thread has waited is read now and then only: found() reads it where the clocks
// show a gap. Between two readings it grows by gaps of less than 50 µs each.
void StolenTime::poll_from_within() {
  within_at_ = monotonic_ns();
  used_within_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (polled_at_.load(std::memory_order_relaxed) == 0 && polls_from_within_++ % kPollsAReading == 0)
    waited_before_.store(wait_.total_ns(), std::memory_order_relaxed);
}

// The kernel reports the time that a thread has waited as text, which takes 5 µs, and the time it
// has used as a number, in a third of that.
StolenTime::Found StolenTime::found() {
  const std::uint64_t now = monotonic_ns();
  const std::uint64_t used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const auto ran_since = [&](std::uint64_t then, std::uint64_t used_then) {
    return now - then < used - used_then + kMayHaveWaitedNs;
  };
  if (ran_since(within_at_, used_within_)) return Found::kRan;
  if (const std::uint64_t polled_at = polled_at_.load(std::memory_order_relaxed)) {
    if (is_late_.load(std::memory_order_relaxed)) return Found::kReportedLate;
    if (ran_since(polled_at, used_before_.load(std::memory_order_relaxed))) return Found::kRan;
  }
  const std::uint64_t waited = wait_.total_ns();
  const std::uint64_t before = waited_before_.exchange(waited, std::memory_order_relaxed);
  return waited > before + kMayHaveWaitedNs ? Found::kWaited : Found::kRan;
}

}  // namespace ringside::plugin
