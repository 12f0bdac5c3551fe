#include "engines/host_waits.h"

#include <fmt/core.h>

#include <set>

namespace ringside::engines {
namespace {

// Beside the main loop, what stops the guest may take a vCPU's processor for some 100 µs; who waits
// for a processor waits for the rest of a time slice, mostly milliseconds.
constexpr std::uint64_t kWaitedNs = 400'000;

}  // namespace

HostWaits::HostWaits(pid_t process, std::span<const pid_t> threads, std::size_t vcpus) {
  const std::set<pid_t> different(threads.begin(), threads.end());
  if (process <= 0 || threads.size() != vcpus || different.size() != vcpus) return;
  const auto of = [process](pid_t thread) {
    return wire::HostWait(fmt::format("/proc/{}/task/{}/schedstat", process, thread).c_str());
  };
  main_loop_ = of(process);
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
  main_loop_ran_before_ = main_loop_.times().ran_ns;
  for (const wire::HostWait& wait : waits_) before_.push_back(wait.total_ns());
}

void HostWaits::poll_again() {
  waited_.clear();
  for (std::size_t n = 0; n < before_.size(); ++n)
    waited_.push_back(waits_[n].total_ns() - before_[n]);
  main_loop_ran_ = main_loop_.times().ran_ns - main_loop_ran_before_;
}

void HostWaits::leave_out(Tick& tick) const {
  tick.not_run += std::erase_if(tick.captures, [this](const wire::Capture& capture) {
    const std::size_t vcpu = capture.vcpu.value;
    // Captures skipped for their level (-k, -u) are included: the same stop determined that level.
    const bool ran = capture.disposition == wire::Disposition::kSampled ||
                     (capture.disposition == wire::Disposition::kSkipped &&
                      capture.level != PrivilegeLevel::kUnknown);
    return ran && vcpu < waited_.size() && waited_[vcpu] > kWaitedNs + main_loop_ran_;
  });
}

}  // namespace ringside::engines
