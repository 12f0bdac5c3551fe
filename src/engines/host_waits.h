#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engines/engine.h"
#include "wire/host_wait.h"

namespace ringside::engines {

// Leaves out of a tick the vCPUs that did not run, or not undisturbed, when the guest was stopped.
// * The host kept the vCPU waiting for a processor. When it gets one to stop on, it is not where it
//   was: an interrupt that came meanwhile is taken first. One that only waits for QEMU's main loop,
//   which takes a processor to stop the guest, is not left out.
// * The host kept QEMU's main loop waiting. It raises the interrupts of timers that came due
//   meanwhile before it stops the guest.
class HostWaits {
 public:
  // Knows of no waits, and leaves nothing out.
  HostWaits() = default;
  // `threads` of that process, by vCPU number; its first thread is QEMU's main loop. The same as
  // above where there are not `vcpus` of them, each another one, or the host does not tell (another
  // user's process).
  HostWaits(pid_t process, std::span<const pid_t> threads, std::size_t vcpus);

  // The threads are this machine's.
  [[nodiscard]] bool sees_threads() const { return !waits_.empty(); }
  // Before the guest is told to stop.
  void poll();
  // Once it has stopped, and before it goes on: vCPUs wait for a processor then, too.
  void poll_again();
  // The guest stood still anyway.
  void forget() { waited_.clear(); }
  // Counts the samples in tick.not_run. States (TickPlan::states) stay, and are counted in
  // tick.waited.
  void leave_out(Tick& tick, bool states = false) const;

 private:
  [[nodiscard]] bool has_waited(const wire::Capture& capture) const;

  std::vector<wire::HostWait> waits_;  // by vCPU number
  wire::HostWait main_loop_thread_;
  // By vCPU number, in nanoseconds: when poll() was called, and from then to poll_again().
  std::vector<std::uint64_t> before_;
  std::vector<std::uint64_t> waited_;
  wire::HostWait::Times main_loop_before_;
  wire::HostWait::Times main_loop_;  // since then
};

}  // namespace ringside::engines
