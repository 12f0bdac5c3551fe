#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engines/engine.h"
#include "session/kernel/kernel_watch.h"
#include "session/sampling/bounded_queue.h"
#include "session/sampling/capture_planner.h"
#include "session/sampling/lost_ticks.h"
#include "session/sampling/options.h"
#include "session/sampling/parking.h"
#include "session/task_attributor.h"
#include "wire/sample_clock.h"

namespace ringside::session {

// A tick, and what was found out at it.
struct Observation {
  engines::Tick tick;
  std::optional<KernelWatch::Reboot> reboot;                       // before all else
  std::shared_ptr<const KernelUpdate> kernel;                      // null: nothing new
  std::vector<elf::Image> code;                                    // that the kernel has loaded
  std::shared_ptr<const guestos::UserInterrupts> user_interrupts;  // null: nothing new
  TaskAttributions attributions;                                   // of the tick's captures
};

// The thread that stops the guest: takes a tick whenever one is due by the clock, and hands it on.
// Searches of the guest's memory that a tick starts may take seconds where reads stop the guest;
// the ticks that come due meanwhile are taken between those stops, and looked at afterwards. The
// engine is this thread's alone from start() to the end of join().
class Sampler : private engines::ReadTurns {
 public:
  Sampler(engines::Engine& engine, CapturePlanner& planner, KernelWatch& watch,
          BoundedQueue<Observation>& queue, const SamplingOptions& options);
  ~Sampler() override;

  void start();
  // Asks the thread to end after the tick it is at. Safe from any thread.
  void stop() { stopping_.store(true, std::memory_order_relaxed); }
  void join();

  // Safe from any thread.
  // The first tick has been taken that was not left out on all vCPUs (engines::Tick::not_run).
  [[nodiscard]] bool has_begun() const { return begun_.load(std::memory_order_relaxed); }
  // Why the guest is waited for, and not sampled.
  [[nodiscard]] engines::LeftAlone waits_because() const {
    return waits_.load(std::memory_order_relaxed);
  }
  // The duration is over, whatever the thread is at. `now_ns` is monotonic.
  [[nodiscard]] bool is_overdue(std::uint64_t now_ns) const {
    return now_ns > host_end_ns_.load(std::memory_order_relaxed);
  }

  // Asked, the thread ends the tick or the stop that it is at, and waits while the guest runs. The
  // ticks that come due meanwhile are lost.
  [[nodiscard]] Parking& parking() { return parking_; }

  // Valid after join(). Counts are vCPU ticks unless they say otherwise.
  struct Outcome {
    std::uint64_t due = 0;
    LostTicks lost;
    std::uint64_t lost_events = 0;     // that the guest has recorded itself
    std::uint64_t foreign_bytes = 0;   // of a serial line, that belong to no record
    std::uint64_t damaged_counts = 0;  // of the guest's rings
    std::uint64_t late_ticks = 0;      // taken more than half an interval after they were due
    std::uint64_t first_tick_ns = 0;
    std::uint64_t last_tick_ns = 0;   // or the end, where ticks were due behind it
    std::uint64_t user_pause_ns = 0;  // the guest was left alone
    std::uint64_t retries = 0;        // the guest did not stop in time; tried again
    bool guest_gone = false;
    std::string moved;  // the guest has been migrated: a sentence
    std::optional<Error> error;
    std::string silence;    // the engine did not answer at the end, for a short while
    std::string processes;  // TaskAttributor::explain()
  };
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }

 private:
  void run();
  void run_by_clock();
  void run_self_paced(engines::SelfPaced& engine);
  [[nodiscard]] Result<void> wait(const engines::ReadStop& last, std::uint64_t from_ns) override;
  [[nodiscard]] std::uint64_t due_after(const engines::ReadStop& stop) const;
  void take_due_tick();
  void pass_until(std::uint64_t now_ns);
  [[nodiscard]] bool has_enough() const;
  // These two return false when sampling is over.
  [[nodiscard]] bool take_tick(std::uint64_t due_ns);
  [[nodiscard]] bool capture(std::uint64_t due_ns, const engines::TickPlan& plan);
  [[nodiscard]] bool poll_captures();
  [[nodiscard]] bool poll(engines::Tick tick, std::uint64_t time_ns);
  [[nodiscard]] bool reads_are_over() const;
  void enqueue(engines::Tick tick, std::vector<guestos::TaskAttribution> attributions);
  void add(guestos::ProcessUpdates updates);
  void adopt(const KernelWatch::Reboot& reboot);
  void wait_until_handled();
  // Host time; where runs are to be the same again, time that goes on with the samples.
  [[nodiscard]] std::uint64_t now_ns() const;
  [[nodiscard]] bool is_the_right_kernel();
  [[nodiscard]] std::uint64_t end_ns() const;
  void publish_end();
  void wait_for_guest();
  [[nodiscard]] bool may_come_back(const Error& error);
  [[nodiscard]] bool is_left_alone() const { return left_alone_ != engines::LeftAlone::kNo; }
  void report_silence();
  void park_if_asked();
  void sleep_until(std::uint64_t time_ns);
  [[nodiscard]] bool give_up(const Error& error);

  engines::Engine* engine_;
  CapturePlanner* planner_;
  KernelWatch* watch_;
  BoundedQueue<Observation>* queue_;
  SamplingOptions options_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> begun_{false};
  std::atomic<engines::LeftAlone> waits_{engines::LeftAlone::kNo};
  Parking parking_;
  std::atomic<std::uint64_t> host_end_ns_{~std::uint64_t{0}};
  std::thread thread_;
  Outcome outcome_;
  std::optional<KernelWatch::Reboot> reboot_;    // not handed on yet
  std::shared_ptr<const KernelUpdate> updates_;  // not handed on yet
  std::vector<elf::Image> new_code_;             // not handed on yet
  std::shared_ptr<const guestos::UserInterrupts> user_interrupts_;
  guestos::ProcessUpdates process_updates_;        // not handed on yet
  std::optional<TaskAttributor> task_attributor_;  // made by the thread
  struct Captured {
    engines::Tick tick;
    std::uint64_t time_ns;  // as now_ns()
    std::size_t bytes;
  };
  std::deque<Captured> captured_;  // not looked at yet
  std::size_t captured_bytes_ = 0;
  std::optional<wire::SampleClock> clock_;  // of an engine that is not SelfPaced
  engines::TickPlan plan_;                  // the last one
  std::uint64_t start_ns_ = 0;
  std::uint64_t ticks_ = 0;            // by clock_
  std::uint64_t suspended_ticks_ = 0;  // of those that clock_ has missed
  unsigned suspensions_seen_ = 0;      // the ticks of so many are in suspended_ticks_
  std::uint64_t sampled_ = 0;          // captures with a stack
  bool goes_on_ = true;
  unsigned failures_in_a_row_ = 0;
  std::uint64_t ticks_seen_ = 0;      // of vCPUs
  std::uint64_t replayed_to_ns_ = 0;  // where the engine plays what was sampled before
  engines::LeftAlone left_alone_ = engines::LeftAlone::kNo;
  std::optional<std::uint64_t> moved_since_ns_;
  std::uint64_t before_first_run_ns_ = 0;  // the guest had not been started yet
  std::uint64_t pause_ns_ = 0;             // how long the guest stood still for the last tick
  std::optional<Error> silence_;           // the last tick was not answered
  std::uint64_t silent_since_ns_ = 0;
};

}  // namespace ringside::session
