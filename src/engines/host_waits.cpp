#include "engines/host_waits.h"

#include <fmt/core.h>

#include <set>

namespace ringside::engines {
namespace {

// Beside the main loop, what stops the guest may take a vCPU's processor for a moment; who waits
// for a processor waits for the rest of a time slice, mostly milliseconds.
constexpr std::uint64_t kVcpuWaitedNs = 100'000;
constexpr std::uint64_t kMainLoopWaitedNs = 400'000;

}  // namespace

HostWaits::HostWaits(pid_t process, std::span<const pid_t> threads, std::size_t vcpus) {
  const std::set<pid_t> different(threads.begin(), threads.end());
  if (process <= 0 || threads.size() != vcpus || different.size() != vcpus) return;
  const auto of = [process](pid_t thread) {
    return wire::HostWait(fmt::format("/proc/{}/task/{}/schedstat", process, thread).c_str());
  };
  main_loop_thread_ = of(process);
  for (const pid_t thread : threads) {
    waits_.push_back(of(thread));
    if (waits_.back().is_open()) continue;
    waits_.clear();
    return;
  }
}

void HostWaits::poll() {
  before_.clear();
  waited_.clear();
  main_loop_before_ = main_loop_thread_.times();
  for (const wire::HostWait& wait : waits_) before_.push_back(wait.total_ns());
}

void HostWaits::poll_again() {
  waited_.clear();
  for (std::size_t n = 0; n < before_.size(); ++n)
    waited_.push_back(waits_[n].total_ns() - before_[n]);
  const wire::HostWait::Times now = main_loop_thread_.times();
  main_loop_ = {now.ran_ns - main_loop_before_.ran_ns, now.waited_ns - main_loop_before_.waited_ns};
}

bool HostWaits::has_waited(const wire::Capture& capture) const {
  const std::size_t vcpu = capture.vcpu.value;
  // Captures skipped for their level (-k, -u) are included: the same stop determined that level.
  const bool ran = capture.disposition == wire::Disposition::kSampled ||
                   (capture.disposition == wire::Disposition::kSkipped &&
                    capture.level != PrivilegeLevel::kUnknown);
  if (!ran || vcpu >= waited_.size()) return false;
  return waited_[vcpu] > kVcpuWaitedNs + main_loop_.ran_ns ||
         main_loop_.waited_ns > kMainLoopWaitedNs;
}

void HostWaits::leave_out(Tick& tick, bool states) const {
  if (!states) {
    tick.not_run += std::erase_if(
        tick.captures, [this](const wire::Capture& capture) { return has_waited(capture); });
    return;
  }
  for (const wire::Capture& capture : tick.captures)
    if (capture.disposition == wire::Disposition::kSampled && has_waited(capture)) ++tick.waited;
}

}  // namespace ringside::engines
