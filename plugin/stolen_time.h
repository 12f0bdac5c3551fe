#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "wire/host_wait.h"

namespace ringside::plugin {

// Whether the host kept a vCPU's thread waiting for a processor about when a sample was due.
// "About" begins at the last look, which is one of two kinds.
class StolenTime {
 public:
  // In the vCPU's thread, once, before anything else.
  void begin();
  // In the plugin's thread, shortly before a sample is due. No other work belongs right before it:
  // what the plugin's thread does then a vCPU's may have to wait for.
  void look();
  // In the vCPU's thread, after a sample: where samples are so near to each other that the time
  // since the last one is "about" the next, nothing needs to be done in the plugin's thread.
  void look_from_within();
  // In the vCPU's thread, when the sample is taken: whether a wait of more than 50 µs has ended
  // since the last look.
  [[nodiscard]] bool has_waited();

 private:
  wire::HostWait wait_;
  std::atomic<clockid_t> used_{};  // the thread's clock of processor time
  // When it was looked, and what the thread had used and had waited by then, in nanoseconds.
  std::atomic<std::uint64_t> looked_at_{0};
  std::atomic<std::uint64_t> used_before_{0};
  std::atomic<std::uint64_t> waited_before_{0};
  std::atomic<bool> was_running_{false};
  unsigned looks_from_within_ = 0;
};

}  // namespace ringside::plugin
