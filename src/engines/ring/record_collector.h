#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engines/engine.h"
#include "engines/ring/ring_clock.h"
#include "wire/guest_record.h"

namespace ringside::engines::ring {

// Gathers the records of a guest's CPUs and makes ticks of them: captures and events in the order
// of the guest's clock, by the host's times. CPUs are read one after another, so an event waits for
// those of other CPUs that come before it: who frees a block need not be who has allocated it.
class RecordCollector {
 public:
  // `counter_hz` is the rate of the guest's counter; 0: it is measured.
  // Events wait for `patience_ns` at most.
  RecordCollector(Arch arch, double counter_hz, std::uint64_t patience_ns)
      : arch_(arch), clock_(counter_hz), patience_ns_(patience_ns) {}

  // Samples of vCPUs and modes that the plan does not want are skipped from now on.
  void set_plan(const TickPlan& plan);
  // Registers that all captures have: those that say how addresses are translated.
  void set_registers(const arch::Registers& registers) { registers_ = registers; }

  // `words` are those of the record.
  void take(const wire::GuestRecord& record, std::span<const std::uint64_t> words);
  // The captures that were gathered, and the events that have waited; all of them where nothing
  // follows. `now_ns` is the host's monotonic time.
  [[nodiscard]] Tick take_out(std::uint64_t now_ns, bool is_last = false);
  // Captures that were taken out.
  [[nodiscard]] std::uint64_t captures() const { return taken_; }

 private:
  struct TimedCapture {
    std::uint64_t counter = 0;
    wire::Capture capture;
  };
  static constexpr std::size_t kMostWaiting = 1 << 17;  // events
  struct TimedEvent {
    std::uint64_t counter = 0;
    std::uint64_t came_ns = 0;  // when it was asked for first; 0: not yet
    std::uint64_t host_ns = 0;  // its time, by the clock of then as samples have it
    std::vector<std::uint64_t> words;
  };
  void add_capture(const wire::GuestRecord& record);
  void add_event(const wire::GuestRecord& record, std::span<const std::uint64_t> words);
  void set_paging(wire::Capture& capture) const;
  // Gives events that have just come their times, none before `earliest_ns`.
  void date_events(std::uint64_t earliest_ns, std::uint64_t now_ns);
  // Up to which counter events have waited long enough; nothing where none has.
  [[nodiscard]] std::optional<std::uint64_t> due(std::uint64_t now_ns, bool is_last) const;
  void release(std::uint64_t up_to);
  [[nodiscard]] bool is_wanted(const wire::Capture& capture) const;

  Arch arch_;
  RingClock clock_;
  arch::Registers registers_;
  bool kernel_ = true;
  bool user_ = true;
  std::vector<bool> wanted_;  // by vCPU
  std::vector<TimedCapture> captures_;
  std::vector<TimedEvent> events_;         // that wait
  std::vector<TimedEvent> ready_;          // in order
  std::optional<wire::Capture> reporter_;  // of one of them
  std::uint64_t patience_ns_;
  std::uint64_t newest_ = 0;        // of the guest's counter
  std::uint64_t newest_event_ = 0;  // the same, of all events
  std::uint64_t last_time_ns_ = 0;  // that a capture was given, or an event when it came
  std::uint64_t last_event_ns_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace ringside::engines::ring
