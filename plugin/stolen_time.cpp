#include "plugin/stolen_time.h"

#include <pthread.h>

#include "base/clock.h"

namespace ringside::plugin {
namespace {

constexpr std::uint64_t kMayHaveWaitedNs = 50'000;
// A thread that has run all of so long has not come from a wait just now.
constexpr std::uint64_t kLongEnoughNs = 250'000;
constexpr unsigned kLooksAReading = 16;

}  // namespace

void StolenTime::begin() {
  wait_ = wire::HostWait("/proc/thread-self/schedstat");
  clockid_t clock{};
  if (::pthread_getcpuclockid(::pthread_self(), &clock) == 0) used_.store(clock);
}

void StolenTime::look() {
  looked_at_.store(monotonic_ns(), std::memory_order_relaxed);
  used_before_.store(clock_ns(used_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
  waited_before_.store(wait_.total_ns(), std::memory_order_relaxed);
  was_running_.store(false, std::memory_order_relaxed);
}

// What the thread has waited is read now and then only: has_waited() reads it where the clocks show
// a gap. Between two readings it grows by gaps of less than 50 µs each.
void StolenTime::look_from_within() {
  looked_at_.store(monotonic_ns(), std::memory_order_relaxed);
  used_before_.store(clock_ns(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
  if (looks_from_within_++ % kLooksAReading == 0)
    waited_before_.store(wait_.total_ns(), std::memory_order_relaxed);
  was_running_.store(true, std::memory_order_relaxed);
}

// What a thread has waited the kernel tells as text, which takes 5 µs, and what it has used as a
// number, in a third of that.
bool StolenTime::has_waited() {
  const std::uint64_t used =
      clock_ns(CLOCK_THREAD_CPUTIME_ID) - used_before_.load(std::memory_order_relaxed);
  const std::uint64_t since = monotonic_ns() - looked_at_.load(std::memory_order_relaxed);
  const bool ran_lately = was_running_.load(std::memory_order_relaxed) || since >= kLongEnoughNs;
  if (ran_lately && since < used + kMayHaveWaitedNs) return false;
  const std::uint64_t waited = wait_.total_ns();
  return waited > waited_before_.exchange(waited, std::memory_order_relaxed) + kMayHaveWaitedNs;
}

}  // namespace ringside::plugin
