#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engines/engine.h"
#include "wire/host_wait.h"

namespace ringside::engines {

// Leaves out of a tick the vCPUs that the host kept waiting for a processor when the guest was
// stopped. They do not run then, and what they stop at, when they get a processor to stop on, is
// not what they were doing: an interrupt that came meanwhile is taken first. One that only waits
// for QEMU's main loop, which takes a processor to stop the guest, is not left out.
class HostWaits {
 public:
  // Knows of no waits, and leaves nothing out.
  HostWaits() = default;
  // `threads` of that process, by vCPU number; its first thread is QEMU's main loop. The same as
  // above where there are not `vcpus` of them, each another one, or the host does not tell (another
  // user's process).
  HostWaits(pid_t process, std::span<const pid_t> threads, std::size_t vcpus);

  // Before the guest is told to stop.
  void poll();
  // Once it has stopped, and best before it goes on: vCPUs wait for a processor then, too.
  void poll_again();
  // Counts the samples in tick.not_run.
  void leave_out(Tick& tick) const;

 private:
  std::vector<wire::HostWait> waits_;  // by vCPU number
  wire::HostWait main_loop_;
  // By vCPU number, in nanoseconds: when poll() was called, and from then to poll_again().
  std::vector<std::uint64_t> before_;
  std::vector<std::uint64_t> waited_;
  std::uint64_t main_loop_ran_before_ = 0;
  std::uint64_t main_loop_ran_ = 0;
};

}  // namespace ringside::engines
