#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "engines/engine.h"
#include "session/bounded_queue.h"
#include "session/capture_planner.h"
#include "session/kernel_watch.h"
#include "session/options.h"
#include "session/owner_watch.h"

namespace ringside::session {

// A tick, and what was found out at it.
struct Observation {
  engines::Tick tick;
  std::shared_ptr<const KernelNews> kernel;  // null: nothing new
  std::vector<elf::Image> code;              // that the kernel has loaded
  Owners owners;                             // of the tick's captures
};

// The thread that stops the guest: takes a tick whenever the clock says so and hands it on. Nothing
// slow happens here. The engine is this thread's alone from start() to the end of join().
class Sampler {
 public:
  Sampler(engines::Engine& engine, CapturePlanner& planner, KernelWatch& watch,
          BoundedQueue<Observation>& queue, const SamplingOptions& options);
  ~Sampler();

  void start();
  // Asks the thread to end after the tick it is at. Safe from any thread.
  void stop() { stopping_.store(true, std::memory_order_relaxed); }
  void join();

  // Valid after join(). Counts are vCPU ticks unless they say otherwise.
  struct Outcome {
    std::uint64_t due = 0;
    std::uint64_t lost = 0;        // missed, or the queue was full
    std::uint64_t queue_full = 0;  // of those, the queue was full
    std::uint64_t stolen = 0;      // of those, the host did not run the vCPU
    std::uint64_t late_ticks = 0;  // taken more than half an interval after they were due
    std::uint64_t first_tick_ns = 0;
    std::uint64_t last_tick_ns = 0;
    std::uint64_t user_pause_ns = 0;  // the guest's user had stopped it
    std::uint64_t retries = 0;        // the guest did not stop in time; tried again
    bool guest_gone = false;
    std::optional<Error> error;
  };
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }

 private:
  void run();
  void run_by_clock();
  void run_self_paced(engines::SelfPaced& engine);
  // False when sampling is over.
  [[nodiscard]] bool take_tick(std::uint64_t due_ns);
  void hand_on(engines::Tick tick, std::vector<guestos::Owner> owners);
  void add(guestos::ProcessNews news);
  void wait_until_handled();
  // Host time; where runs are to be the same again, time that goes on with the samples.
  [[nodiscard]] std::uint64_t now_ns() const;
  [[nodiscard]] bool is_the_right_kernel();
  [[nodiscard]] std::uint64_t end_ns(std::uint64_t start_ns) const;
  void wait_for_user();
  void sleep_until(std::uint64_t time_ns) const;
  [[nodiscard]] bool give_up(const Error& error);

  engines::Engine* engine_;
  CapturePlanner* planner_;
  KernelWatch* watch_;
  BoundedQueue<Observation>* queue_;
  SamplingOptions options_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
  Outcome outcome_;
  std::shared_ptr<const KernelNews> news_;  // not handed on yet
  std::vector<elf::Image> new_code_;        // not handed on yet
  guestos::ProcessNews process_news_;       // not handed on yet
  std::optional<OwnerWatch> owner_watch_;   // made by the thread
  unsigned failures_in_a_row_ = 0;
  std::uint64_t ticks_seen_ = 0;      // of vCPUs
  std::uint64_t replayed_to_ns_ = 0;  // where the engine plays what was sampled before
  bool user_paused_ = false;
};

}  // namespace ringside::session
