#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "wire/host_wait.h"

namespace ringside::plugin {

// Whether the host kept a vCPU's thread waiting for a processor when a sample was due. A sample
// that was due in a wait is not taken behind it: the guest has not used that time, and what it does
// first when it runs again, most often its timer interrupt, is not what it was doing.
class StolenTime {
 public:
  // In the vCPU's thread, once, before anything else.
  void begin();
  // In the plugin's thread, when a sample is due, right before the vCPU hears of it. `is_late`: the
  // plugin's thread has been kept waiting itself. It may have waited for the same processor, and
  // what the vCPU does now is then what it does first after a wait.
  void poll(bool is_late);
  // In the vCPU's thread, after a sample. It is enough where samples are so near to each other that
  // the time since the last one is "when the next one is due".
  void poll_from_within();
  enum class Found {
    kRan,
    kWaited,        // for more than 50 µs since the last poll
    kReportedLate,  // it may have waited when the sample was due
  };
  // In the vCPU's thread, when the sample is taken.
  [[nodiscard]] Found found();

 private:
  wire::HostWait wait_;
  std::atomic<clockid_t> used_{};  // the thread's clock of processor time
  // By poll(), in nanoseconds: when it was, and what the thread had used and had waited by then. 0:
  // it has not polled.
  std::atomic<std::uint64_t> polled_at_{0};
  std::atomic<std::uint64_t> used_before_{0};
  std::atomic<std::uint64_t> waited_before_{0};
  std::atomic<bool> is_late_{false};
  // By poll_from_within().
  std::uint64_t within_at_ = 0;
  std::uint64_t used_within_ = 0;
  unsigned polls_from_within_ = 0;
};

}  // namespace ringside::plugin
