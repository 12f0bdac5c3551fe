#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "elf/image_map.h"
#include "engines/engine.h"
#include "findings/facts.h"
#include "guestos/adapter.h"
#include "recording/guest_event_tables.h"
#include "recording/writer.h"
#include "session/early_samples.h"
#include "session/kernel/kernel_watch.h"
#include "session/kernel_stack_users.h"
#include "session/one_shot.h"
#include "session/sampling/bounded_queue.h"
#include "session/sampling/capture_feedback.h"
#include "session/sampling/capture_planner.h"
#include "session/sampling/options.h"
#include "session/sampling/sampler.h"
#include "session/used_functions.h"
#include "session/user_stacks.h"
#include "unwind/unwinder.h"

namespace ringside::session {

// The outside of a recording: supplies its wish at this moment, and receives reports of progress.
class Control {
 public:
  enum class Wish {
    kWait,    // do not sample yet (--after)
    kSample,  // sample
    kStop,    // end the recording
  };
  virtual ~Control() = default;
  // Called some ten times a second.
  [[nodiscard]] virtual Wish poll() = 0;
  struct Progress {
    double seconds = 0;
    std::uint64_t samples = 0;
    std::uint64_t idle = 0;
    std::optional<double> share = {};  // of what is to be done, 0 to 1; absent: there is no end
  };
  virtual void progress(const Progress&) {}
  struct Sample {
    std::uint64_t number = 0;  // from 1
    std::size_t frames = 0;    // with those of user code
    VcpuId vcpu;
    std::uint64_t time_ns = 0;   // since the recording began
    std::uint64_t pause_ns = 0;  // wire::Capture::pause_ns
  };
  // A sample was taken and its stack found; idle ticks are none.
  virtual void sampled(const Sample&) {}
  // Sampling has begun: the first tick has been taken.
  virtual void begun() {}
  // Why the guest is not sampled from now on; kNo: it goes on.
  virtual void left_alone(engines::LeftAlone) {}
  // Sampling is to end, and does not end at once: what still waits for the guest is to give up.
  virtual void overdue() {}
  // The user wants ringside to suspend itself (Ctrl-Z); asked as often as poll().
  [[nodiscard]] virtual bool wants_suspension() { return false; }
  // Whether the guest's own process is suspended, so that it is of no use to wait for it.
  [[nodiscard]] virtual bool guest_is_suspended() { return false; }
  // Returns when ringside is to go on. The guest is not held meanwhile.
  virtual void suspend() {}
  // The kernel has been found.
  virtual void found(const KernelUpdate&) {}
  // The kernel is no longer at its place, so many seconds after the start; another one is looked
  // for.
  virtual void kernel_left(double /*seconds*/) {}
};

// How a recording ended.
struct RecordResult {
  bool guest_gone = false;
  bool guest_moved = false;  // it has been migrated; a warning says so
  std::uint64_t due = 0;     // vCPU ticks
  std::uint64_t samples = 0;
  std::uint64_t events = 0;  // of the guest's own rings
  // With SamplingOptions::one_shot: how many rounds were taken, and what is missing all the same.
  std::uint64_t rounds = 0;
  std::vector<OneShot::Gap> gaps;
  std::vector<std::string> warnings;
  std::optional<Error> error;  // why it ended early; what was recorded is in the file
};

// Joins everything: engine -> unwinder -> recording. Samples in a thread of its own, unwinds and
// writes in the caller's.
class Recorder {
 public:
  // All references must outlive the recorder.
  Recorder(engines::Engine& engine, KernelRequest kernel, recording::Writer& writer,
           std::uint64_t start_ns, const SamplingOptions& options);

  // Records until the control says stop, the options' limits are reached, or the guest has gone.
  [[nodiscard]] RecordResult run(Control& control);

 private:
  [[nodiscard]] Result<void> wait_for_start(Control& control, bool& stopped);
  [[nodiscard]] Result<void> record(Control& control, Sampler& sampler);
  void leave_out(const engines::Tick& tick, std::size_t first = 0);
  [[nodiscard]] Result<void> handle(const engines::Tick& tick, const TaskAttributions& attributions,
                                    Control& control);
  [[nodiscard]] Result<void> handle(const wire::Capture& capture,
                                    const guestos::TaskAttribution& attribution, Control& control);
  [[nodiscard]] std::optional<Stack> user_part(const wire::Capture& capture,
                                               const guestos::TaskAttribution& attribution,
                                               const Stack& kernel);
  [[nodiscard]] std::optional<Stack> unwind_user(const wire::Capture& capture,
                                                 const guestos::TaskAttribution& attribution);
  // The registers that user code had when it entered the kernel, as unwinding reports them.
  [[nodiscard]] std::optional<arch::Registers> entered_from(const wire::Capture& capture,
                                                            std::uint64_t address_space,
                                                            const Stack& kernel);
  // A capture's stack, and below it the one of the user code that it was entered from.
  [[nodiscard]] std::vector<Stack> unwind(const wire::Capture& capture,
                                          const guestos::TaskAttribution& attribution);
  [[nodiscard]] Result<void> add(EarlySamples::Sample sample, std::optional<GuestVirt> waits_for);
  [[nodiscard]] Result<void> write(const EarlySamples::Sample& sample);
  [[nodiscard]] Result<void> write(const engines::GuestEventWords& event);
  [[nodiscard]] Result<void> write_until(std::uint64_t host_time_ns,
                                         const std::vector<engines::GuestEventWords>& events);
  [[nodiscard]] std::uint64_t since_start(std::uint64_t host_time_ns) const;
  [[nodiscard]] Result<void> adopt(const Observation& seen, Control& control);
  [[nodiscard]] Result<void> adopt(const KernelWatch::Reboot& reboot, const engines::Tick& tick,
                                   Control& control);
  [[nodiscard]] Result<void> adopt(const KernelUpdate& kernel);
  [[nodiscard]] Result<void> describe(const KernelUpdate& kernel);
  struct RecordedImage {
    const elf::Image* image = nullptr;
    std::uint32_t id = 0;  // in the recording
  };
  [[nodiscard]] Result<RecordedImage> add_image(const elf::Image& found);
  [[nodiscard]] Result<void> unwind_early_samples();
  [[nodiscard]] bool limit_reached() const;
  // Ticks that each vCPU has had at least.
  [[nodiscard]] std::uint64_t whole_rounds() const;
  [[nodiscard]] std::optional<double> share_done(double seconds) const;
  void report(Control& control, const Sampler& sampler);
  static void suspend_if_wanted(Control& control, Sampler& sampler);
  void end_in_time(Control& control, Sampler& sampler);
  [[nodiscard]] recording::Statistics statistics(const Sampler::Outcome& outcome) const;
  [[nodiscard]] findings::GuestFacts guest_facts(const Sampler::Outcome& outcome,
                                                 const RecordResult& result) const;
  void add_warnings(const Sampler::Outcome& outcome, RecordResult& result) const;

  engines::Engine* engine_;
  recording::Writer* writer_;
  std::uint64_t start_ns_;
  std::uint64_t last_sample_ns_ = 0;  // of the host's clock
  SamplingOptions options_;
  CaptureFeedback feedback_;
  CapturePlanner planner_;
  KernelWatch watch_;
  BoundedQueue<Observation> queue_;
  elf::ImageMap images_;  // the kernel, once it was found, and its modules
  RecordedImage kernel_;  // the last that was found
  unwind::Unwinder unwinder_;
  guestos::InterruptCode interrupts_;
  std::shared_ptr<const guestos::UserInterrupts> user_interrupts_;  // null: not determined
  UserStacks user_stacks_;
  recording::GuestEventTables guest_events_;
  UsedFunctions used_functions_;
  KernelStackUsers stack_users_;
  EarlySamples early_;
  std::optional<OneShot> one_shot_;
  bool loads_code_ = false;  // the kernel does, such as modules

  std::uint64_t sampling_since_ns_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t idle_ = 0;
  std::uint64_t stood_still_before_ns_ = 0;  // until the recording began
  std::uint64_t waited_states_ = 0;          // engines::Tick::waited
  std::uint64_t outside_ticks_ = 0;          // taken, and not of the part that is to be recorded
  std::array<std::uint64_t, kPrivilegeLevelCount> samples_by_level_{};
  bool is_described_ = false;     // the recording's head names the kernel
  bool knows_guest_ = false;      // the kernel that was found is a guest's
  std::uint64_t trap_loops_ = 0;  // samples of a vCPU that repeats a trap
  GuestVirt trap_loop_at_;
  std::uint64_t stack_bytes_ = 0;
  std::map<VcpuId, std::uint64_t> ticks_by_vcpu_;
  bool kernel_seen_ = false;
  std::vector<double> kernel_left_s_;  // seconds after the start
  bool reported_begun_ = false;
  engines::LeftAlone reported_left_alone_ = engines::LeftAlone::kNo;
  std::optional<std::uint64_t> stopped_ns_;  // when sampling was asked to end
};

}  // namespace ringside::session
