#include "plugin/stolen_time.h"

#include <pthread.h>

#include "base/clock.h"

namespace ringside::plugin {
namespace {

constexpr std::uint64_t kMayHaveWaitedNs = 50'000;

}  // namespace

void StolenTime::begin() {
  wait_ = wire::HostWait("/proc/thread-self/schedstat");
  clockid_t clock{};
  if (::pthread_getcpuclockid(::pthread_self(), &clock) == 0) used_.store(clock);
}

void StolenTime::look() {
  looked_at_ = monotonic_ns();
  used_before_ = clock_ns(used_.load(std::memory_order_relaxed));
  waited_before_.store(wait_.total_ns(), std::memory_order_relaxed);
}

void StolenTime::fall_due() {
  const std::uint64_t used = clock_ns(used_.load(std::memory_order_relaxed)) - used_before_;
  const std::uint64_t now = monotonic_ns();
  const bool has_run = now - looked_at_ < used + kMayHaveWaitedNs;
  due_at_.store(has_run ? now : 0, std::memory_order_relaxed);
}

bool StolenTime::has_waited() const {
  if (monotonic_ns() < due_at_.load(std::memory_order_relaxed) + kMayHaveWaitedNs) return false;
  return wait_.total_ns() > waited_before_.load(std::memory_order_relaxed) + kMayHaveWaitedNs;
}

}  // namespace ringside::plugin
