#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "wire/host_wait.h"

namespace ringside::plugin {

// Whether the host kept a vCPU's thread waiting for a processor about when a sample was due. The
// vCPU's thread itself asks the kernel only where that may be: a system call there takes as long as
// a sample.
class StolenTime {
 public:
  // In the vCPU's thread, once, before anything else.
  void begin();
  // In the plugin's thread: shortly before a sample is due, and when it is.
  void look();
  void fall_due();
  // In the vCPU's thread, when the sample is taken: whether it has waited for more than 50 µs since
  // the last look.
  [[nodiscard]] bool has_waited() const;

 private:
  wire::HostWait wait_;
  std::atomic<clockid_t> used_{};  // the thread's clock of processor time
  std::uint64_t looked_at_ = 0;    // when, and what the thread had used by then, ns
  std::uint64_t used_before_ = 0;
  std::atomic<std::uint64_t> waited_before_{0};  // by then, ns
  // When a sample fell due last; 0 where the thread had not run all the time since the look.
  std::atomic<std::uint64_t> due_at_{0};
};

}  // namespace ringside::plugin
