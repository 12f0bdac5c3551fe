#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "wire/host_wait.h"

namespace ringside::plugin {

// One thread as the host's kernel knows it, and the time. All are nanoseconds.
class ThreadClocks {
 public:
  virtual ~ThreadClocks() = default;
  // In the thread, once, before anything else.
  virtual void begin();
  // From any thread:
  [[nodiscard]] virtual std::uint64_t now_ns() const;
  // The processor time that the thread has used.
  [[nodiscard]] virtual std::uint64_t used_ns() const;
  // How long it was kept waiting for a processor, without a wait that it is in. The kernel reports
  // it as text, which takes 5 µs; the others are numbers, in a third of that.
  [[nodiscard]] virtual std::uint64_t waited_ns() const { return wait_.total_ns(); }

 private:
  wire::HostWait wait_;
  clockid_t used_{};
};

// Whether a vCPU's thread ran when a sample was due, or waited for a processor, or slept until
// another thread of QEMU's, which may wait for a processor itself, let go of a lock. A sample that
// was due in a wait is not taken behind it: the guest has not used that time, and what it does
// first when it runs again, most often its timer interrupt, is not what it was doing.
class StolenTime {
 public:
  // `clocks` of the vCPU's thread, which must outlive it.
  explicit StolenTime(ThreadClocks& clocks) : clocks_(&clocks) {}

  // In the vCPU's thread, once, before anything else.
  void begin();
  // In the plugin's thread, right before the vCPU hears of a sample that was due at `due_ns`.
  // `is_late`: the plugin's thread has been kept waiting itself. It may have waited for the same
  // processor, and what the vCPU does now is then what it does first after a wait.
  void poll(std::uint64_t due_ns, bool is_late);
  // The same where samples are so near to each other that there is no time to poll: found() looks
  // from one to the next.
  void set_due(std::uint64_t due_ns) { due_ns_.store(due_ns, std::memory_order_relaxed); }
  enum class Found {
    kRan,
    // For more than 50 µs, and that ended after the sample was due:
    kWaited,  // for a processor
    kSlept,
    kReportedLate,  // it may have done so when the sample was due
  };
  // In the vCPU's thread, when the sample is taken.
  [[nodiscard]] Found found();

 private:
  [[nodiscard]] Found judge(bool has_gap, bool was_polled, std::uint64_t now_ns,
                            std::uint64_t used_ns);
  [[nodiscard]] bool was_off_since_poll(std::uint64_t now_ns, std::uint64_t used_ns) const;
  [[nodiscard]] bool waited_since_reading();

  ThreadClocks* clocks_;
  // By the plugin's thread.
  std::atomic<std::uint64_t> due_ns_{0};
  std::atomic<bool> was_polled_{false};  // since found()
  std::atomic<bool> is_late_{false};
  std::atomic<std::uint64_t> polled_at_ns_{0};
  std::atomic<std::uint64_t> used_before_ns_{0};  // by then, by the vCPU's thread
  std::atomic<std::uint64_t> waited_before_{0};   // by the last reading of either thread
  // By found(): when the vCPU's thread looked last, and what it had used by then. Between
  // clean_from_ns_ and then it ran when a sample was due.
  std::uint64_t looked_at_ns_ = 0;
  std::uint64_t used_ns_ = 0;
  std::uint64_t clean_from_ns_ = 0;
  Found before_that_ = Found::kRan;
  unsigned looks_ = 0;
};

}  // namespace ringside::plugin
