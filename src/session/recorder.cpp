#include "session/recorder.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <limits>

#include "arch/arch_info.h"
#include "base/clock.h"
#include "base/scheduling.h"
#include "cases/entry_text.h"
#include "cases/recorded_captures.h"
#include "findings/findings.h"
#include "guestos/linux/release.h"
#include "recording/counters.h"
#include "session/kernel/trap_loop.h"
#include "session/one_thread.h"
#include "session/recorded_image.h"
#include "unwind/walked_stack.h"

namespace ringside::session {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPollInterval{50};
constexpr std::uint64_t kStartPollNs = 10'000'000;
// Sampling ends by itself within some milliseconds, except where a slow stub is waited for.
constexpr std::uint64_t kGraceNs = 150'000'000;
constexpr std::size_t kQueueBytes = 64u << 20;
constexpr std::size_t kBacklogBytes = 4u << 20;
// Modules are looked for once a second, which takes some time on a busy host.
constexpr std::uint64_t kCodePatienceNs = 2'000'000'000;
// So many that are all lost for one reason are no accident.
constexpr std::uint64_t kEnoughTicks = 100;

KernelRequest request_for(KernelRequest kernel, engines::Engine& engine, bool wants_user) {
  kernel.system.asynchronous = engine.self_paced() != nullptr;
  kernel.wants_user = wants_user;
  return kernel;
}

// Firmware runs for the code that it has interrupted. The last part of user code is
// written.
void add_firmware(const wire::Capture& capture, std::vector<Stack>& parts) {
  const bool is_user = capture.level == PrivilegeLevel::kUser;
  std::vector<Frame>& frames = (is_user ? parts.back() : parts.front()).frames;
  frames.insert(frames.begin(),
                {.address = capture.firmware->pc, .exact = true, .kind = FrameKind::kFirmware});
}

}  // namespace

Recorder::Recorder(engines::Engine& engine, KernelRequest kernel, recording::Writer& writer,
                   std::uint64_t start_ns, const SamplingOptions& options)
    : engine_(&engine),
      writer_(&writer),
      start_ns_(start_ns),
      options_(options),
      feedback_(engine.vcpu_count(), options.stack_bytes, !options.adapt_stack_bytes),
      planner_(feedback_, options, engine.vcpu_count()),
      watch_(request_for(std::move(kernel), engine, options.user), engine.arch()),
      queue_(kQueueBytes),
      unwinder_(images_, {.kernel_seen = !watch_.has_file(), .max_frames = 512}),
      user_stacks_(writer),
      guest_events_(writer, recording::kHostClock),
      used_functions_(writer),
      early_(engine.vcpu_count() *
             (kCodePatienceNs / std::max<std::uint64_t>(options.interval_ns, 1) + 1)) {
  if (options.one_shot) one_shot_.emplace(engine.vcpu_count());
}

RecordResult Recorder::run(Control& control) {
  RecordResult result;
  stood_still_before_ns_ = engine_->stood_still_ns();
  bool stopped = false;
  auto ok = writer_->flush();
  // A guest that waits for its samples to be taken shows nothing meanwhile: record() looks out.
  if (ok && !options_.deterministic) ok = wait_for_start(control, stopped);
  Sampler sampler(*engine_, planner_, watch_, queue_, options_);
  if (ok && !stopped) {
    sampling_since_ns_ = monotonic_ns() + options_.delay_ns;
    sampler.start();
    ok = record(control, sampler);
    sampler.stop();
    sampler.join();
    if (ok) ok = early_.finish([this](const auto& sample) { return write(sample); });
    if (ok && one_shot_)
      ok = one_shot_->write([this](const auto& sample) { return write(sample); });
    if (ok) ok = guest_events_.flush();
  }
  const Sampler::Outcome& outcome = sampler.outcome();
  result.guest_gone = outcome.guest_gone;
  result.guest_moved = !outcome.moved.empty();
  result.due = outcome.due - outside_ticks_;
  result.samples = samples_;
  result.events = events_;
  if (one_shot_) {
    if (!one_shot_->is_of_one_moment()) waited_states_ = 0;  // not determined
    result.rounds = one_shot_->rounds();
    result.gaps = one_shot_->gaps();
  }
  if (!ok)
    result.error = ok.error();
  else
    result.error = outcome.error;
  add_warnings(outcome, result);
  // After an error of the writer nothing more can be written; the first error is the one to report.
  for (const std::string& warning : result.warnings)
    if (ok) ok = writer_->add_warning(warning);
  if (ok) ok = writer_->add_statistics(statistics(outcome));
  if (ok) ok = writer_->finish();
  if (!ok && !result.error) result.error = ok.error();
  return result;
}

Result<void> Recorder::adopt(const Observation& seen, Control& control) {
  if (seen.reboot) RINGSIDE_TRY(adopt(*seen.reboot, seen.tick, control));
  if (seen.kernel) {
    RINGSIDE_TRY(adopt(*seen.kernel));
    control.found(*seen.kernel);
  }
  if (seen.user_interrupts) user_interrupts_ = seen.user_interrupts;
  for (const elf::Image& image : seen.code) RINGSIDE_TRY(add_image(image));
  return seen.code.empty() ? Result<void>() : unwind_early_samples();
}

// Samples that wait for code of the kernel before wait in vain.
Result<void> Recorder::adopt(const KernelWatch::Reboot& reboot, const engines::Tick& tick,
                             Control& control) {
  if (one_shot_) outside_ticks_ += one_shot_->start_over();
  user_stacks_.forget_spaces();
  stack_users_ = {};
  feedback_.forget_links();
  RINGSIDE_TRY(early_.finish([this](const auto& sample) { return write(sample); }));
  RINGSIDE_TRY(guest_events_.flush());
  const std::uint64_t time_ns = since_start(tick.empty() ? last_sample_ns_ : tick.first_time_ns());
  if (reboot.kernel_is_gone) kernel_ = {};
  images_.remove_all_but(kernel_.image);
  used_functions_.forget_all_but(kernel_.image);
  if (kernel_.image != nullptr) {
    RINGSIDE_TRY(writer_->add_epoch({time_ns, "kernel may have booted again", 0}));
    return write_mappings(*kernel_.image, kernel_.id, *writer_);
  }
  unwinder_.set_entries({});
  unwinder_.set_kernel_seen(!watch_.has_file());
  kernel_seen_ = false;
  interrupts_ = {};
  user_interrupts_.reset();
  loads_code_ = false;
  kernel_left_s_.push_back(static_cast<double>(time_ns) / 1e9);
  control.kernel_left(kernel_left_s_.back());
  return writer_->add_epoch({time_ns, "kernel gone", 0});
}

Result<void> Recorder::adopt(const KernelUpdate& kernel) {
  if (one_shot_) outside_ticks_ += one_shot_->start_over();
  unwinder_.set_entries(kernel.entries, kernel.hooks);
  interrupts_ = kernel.interrupts;
  user_interrupts_.reset();
  loads_code_ = kernel.system == "linux";
  if (options_.keep_captures) {
    const std::string entries = cases::entries_text(kernel.entries, engine_->arch());
    RINGSIDE_TRY(writer_->add_blob({cases::kTrapFrameLayoutsBlob, 0, as_bytes(entries)}));
  }
  RINGSIDE_ASSIGN(kernel_, add_image(kernel.image));
  return is_described_ ? Result<void>() : describe(kernel);
}

// The first kernel that is proven to run names the recording.
Result<void> Recorder::describe(const KernelUpdate& kernel) {
  is_described_ = true;
  const elf::ElfFile& file = *kernel.image.file;
  const Bytes build_id = file.build_id();
  recording::GuestKernel described{
      .system = kernel.system,
      .name = std::filesystem::path(file.name()).filename(),
      .release = kernel.system == "linux" ? guestos::linux_release(file) : std::string(),
      .build_id = {build_id.begin(), build_id.end()}};
  if (described.name.empty()) described.name = described.release;
  return writer_->describe_kernel(described);
}

Result<Recorder::RecordedImage> Recorder::add_image(const elf::Image& found) {
  elf::Image numbered = found;
  // The generation grows with each image, so no other image has this number.
  numbered.id = static_cast<std::uint32_t>(images_.generation() + 1);
  const elf::Image& image = images_.add(std::move(numbered));
  // A case is a file by itself, and has all names.
  const auto names = options_.keep_captures ? RecordedNames::kAll : RecordedNames::kUsed;
  RINGSIDE_ASSIGN(const std::uint32_t id, write_image(image, names, *writer_));
  if (names == RecordedNames::kUsed) RINGSIDE_TRY(used_functions_.add(image, id));
  image.file->release_pages();
  RINGSIDE_TRY(writer_->flush());
  return RecordedImage{&image, id};
}

Result<void> Recorder::wait_for_start(Control& control, bool& stopped) {
  Control::Wish wish = control.poll();
  while (wish == Control::Wish::kWait) {
    if (control.wants_suspension()) control.suspend();
    sleep_ns(kStartPollNs);
    wish = control.poll();
  }
  stopped = wish == Control::Wish::kStop;
  return {};
}

void Recorder::report(Control& control, const Sampler& sampler) {
  if (!reported_begun_ && sampler.has_begun()) {
    reported_begun_ = true;
    control.begun();
  }
  if (const auto why = sampler.waits_because(); reported_begun_ && why != reported_left_alone_) {
    reported_left_alone_ = why;
    control.left_alone(why);
  }
}

void Recorder::suspend_if_wanted(Control& control, Sampler& sampler) {
  if (!control.wants_suspension()) return sampler.parking().let_go();  // or no longer
  sampler.parking().ask();
  if (!sampler.parking().hold() && !control.guest_is_suspended()) return;
  sampler.parking().note_suspension();
  control.suspend();
  sampler.parking().let_go();
}

void Recorder::end_in_time(Control& control, Sampler& sampler) {
  const std::uint64_t now = monotonic_ns();
  if (!stopped_ns_ && (limit_reached() || sampler.is_overdue(now))) stopped_ns_ = now;
  if (!stopped_ns_) return;
  sampler.stop();
  if (now > *stopped_ns_ + kGraceNs) control.overdue();
}

Result<void> Recorder::record(Control& control, Sampler& sampler) {
  std::uint64_t next_poll_ns = 0;
  while (!queue_.finished()) {
    if (const auto seen = queue_.pop(kPollInterval)) {
      RINGSIDE_TRY(adopt(*seen, control));
      report(control, sampler);
      const auto wish = options_.deterministic ? control.poll() : Control::Wish::kSample;
      if (wish == Control::Wish::kStop) sampler.stop();
      // Ticks that waited while the last one that is wanted was unwound are none of it.
      if (wish != Control::Wish::kSample || limit_reached()) {
        RINGSIDE_TRY(write_until(last_sample_ns_, seen->tick.events));
        leave_out(seen->tick);
      } else {
        // One shot shows the last round's states.
        if (one_shot_) waited_states_ = 0;
        waited_states_ += seen->tick.waited;
        RINGSIDE_TRY(handle(seen->tick, seen->attributions, control));
      }
    }
    report(control, sampler);
    suspend_if_wanted(control, sampler);
    end_in_time(control, sampler);
    const std::uint64_t now = monotonic_ns();
    if (now < next_poll_ns) continue;
    next_poll_ns = now + std::chrono::nanoseconds(kPollInterval).count();
    // Memory that the queue took while the disk or the host was busy would stay with the process.
    if (queue_.was_drained(kBacklogBytes)) ::malloc_trim(0);
    const double seconds = static_cast<double>(now - std::min(now, sampling_since_ns_)) / 1e9;
    control.progress({seconds, samples_, idle_, share_done(seconds)});
    if (!stopped_ns_ && control.poll() == Control::Wish::kStop) stopped_ns_ = now;
  }
  report(control, sampler);
  return {};
}

// Before --after's text, or after the end: nothing was due.
void Recorder::leave_out(const engines::Tick& tick, std::size_t first) {
  for (std::size_t i = first; i < tick.captures.size(); ++i)
    outside_ticks_ += tick.captures[i].weight;
}

bool Recorder::limit_reached() const {
  if (one_shot_) return one_shot_->is_done(monotonic_ns());
  if (options_.samples && samples_ < *options_.samples) return false;
  if (options_.rounds && whole_rounds() < *options_.rounds) return false;
  return options_.samples || options_.rounds;
}

std::uint64_t Recorder::whole_rounds() const {
  if (ticks_by_vcpu_.empty() || ticks_by_vcpu_.size() < engine_->vcpu_count()) return 0;
  return std::min_element(ticks_by_vcpu_.begin(), ticks_by_vcpu_.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

// By the limit that is met first, as far as the others are not to be waited for.
std::optional<double> Recorder::share_done(double seconds) const {
  const auto share_of = [](std::uint64_t done, const std::optional<std::uint64_t>& all) {
    return all ? static_cast<double>(done) / static_cast<double>(*all) : 1;
  };
  std::optional<double> share;
  if (options_.samples || options_.rounds)
    share =
        std::min(share_of(samples_, options_.samples), share_of(whole_rounds(), options_.rounds));
  if (options_.duration_ns)
    share = std::max(share.value_or(0), seconds * 1e9 / static_cast<double>(*options_.duration_ns));
  return share;
}

std::uint64_t Recorder::since_start(std::uint64_t host_time_ns) const {
  return host_time_ns > start_ns_ ? host_time_ns - start_ns_ : 0;
}

// Events come later than the samples of their time.
Result<void> Recorder::write_until(std::uint64_t host_time_ns,
                                   const std::vector<engines::GuestEventWords>& events) {
  for (const engines::GuestEventWords& event : events)
    if (event.host_time_ns <= host_time_ns) RINGSIDE_TRY(write(event));
  return {};
}

// The code that reports it is the kernel's: it is in no process's address space.
Result<void> Recorder::write(const engines::GuestEventWords& event) {
  const auto record = wire::read_guest_record(event.words);
  if (!record) return {};
  recording::SampleInfo info;
  info.vcpu = VcpuId{record->cpu};
  if (record->task.is_known()) {
    info.pid = record->task.pid;
    info.tid = record->task.tid;
  }
  const std::uint64_t time_ns = since_start(event.host_time_ns);
  const bool is_allocation = record->kind == wire::GuestRecordKind::kAllocation;
  const Stack stack =
      unwind::walked_stack(is_allocation ? record->allocation.stack : record->event.stack);
  RINGSIDE_TRY(used_functions_.note(stack, images_));
  const recording::StackRef part = writer_->add_stack(stack, 0);
  const std::uint32_t context =
      writer_->add_context(info, std::span(&part, stack.frames.empty() ? 0 : 1));
  ++events_;
  return is_allocation ? guest_events_.add(record->allocation, time_ns, context)
                       : guest_events_.add(record->event, time_ns, context);
}

Result<void> Recorder::handle(const engines::Tick& tick, const TaskAttributions& attributions,
                              Control& control) {
  if (!attributions.updates.empty() && !tick.empty())
    RINGSIDE_TRY(user_stacks_.adopt(attributions.updates, since_start(tick.first_time_ns())));
  RINGSIDE_TRY(write_until(std::numeric_limits<std::uint64_t>::max(), tick.events));
  for (std::size_t i = 0; i < tick.captures.size(); ++i) {
    // The captures of one stop belong together; those of an engine with its own pace do not.
    if (engine_->self_paced() != nullptr && limit_reached()) {
      leave_out(tick, i);
      break;
    }
    RINGSIDE_TRY(handle(tick.captures[i], attributions.by_capture[i], control));
  }
  if (one_shot_ && !tick.captures.empty())
    one_shot_->end_round(monotonic_ns(), kernel_.image != nullptr);
  return {};
}

Result<void> Recorder::handle(const wire::Capture& capture,
                              const guestos::TaskAttribution& attribution, Control& control) {
  recording::SampleInfo info = recording::info_of(capture, start_ns_);
  ticks_by_vcpu_[capture.vcpu] += capture.weight;
  last_sample_ns_ = std::max(last_sample_ns_, capture.host_time_ns);
  if (capture.disposition != wire::Disposition::kSampled) {
    if (capture.disposition == wire::Disposition::kIdle) idle_ += capture.weight;
    return add({.info = info, .parts = {}, .capture = std::nullopt, .attribution = {}},
               std::nullopt);
  }
  info.pid = attribution.pid;
  info.tid = attribution.tid;
  // No mappings are at hand for other address spaces.
  info.address_space =
      user_stacks_.knows(attribution.address_space) ? attribution.address_space : 0;
  if (!kernel_seen_ && runs_kernel(capture, images_)) {
    kernel_seen_ = true;
    unwinder_.set_kernel_seen(true);
  }
  EarlySamples::Sample sample{.info = info,
                              .parts = unwind(capture, attribution),
                              .capture = std::nullopt,
                              .attribution = {}};
  feedback_.learn(capture, sample.parts.front());
  if (capture.firmware && capture.firmware->frame)
    feedback_.learn_firmware(capture.vcpu, *capture.firmware->frame);
  ++samples_;
  std::size_t frame_count = 0;
  for (const Stack& part : sample.parts) frame_count += part.frames.size();
  control.sampled({samples_, frame_count, capture.vcpu, info.time_ns, capture.pause_ns});
  ++samples_by_level_[static_cast<std::size_t>(capture.level)];
  if (repeats_a_trap(capture)) {
    ++trap_loops_;
    trap_loop_at_ = sample.parts.front().frames.front().address;
  }
  const std::vector<Frame>& frames = sample.parts.front().frames;
  knows_guest_ |= capture.level == PrivilegeLevel::kGuest && !frames.empty() &&
                  images_.find_code(frames.front().address) != nullptr;
  stack_bytes_ += capture.bytes.size();
  const auto waits_for =
      loads_code_ ? early_.unknown_code(capture, sample.parts.front(), images_) : std::nullopt;
  if (waits_for || options_.keep_captures) sample.capture = capture;
  if (waits_for) sample.attribution = attribution;
  return add(std::move(sample), waits_for);
}

Result<void> Recorder::add(EarlySamples::Sample sample, std::optional<GuestVirt> waits_for) {
  if (one_shot_) {
    outside_ticks_ += one_shot_->keep(std::move(sample), loads_code_);
    return {};
  }
  if (!waits_for && early_.empty()) return write(sample);
  return early_.add(std::move(sample), waits_for,
                    [this](const auto& released) { return write(released); });
}

Result<void> Recorder::unwind_early_samples() {
  return early_.unwind_again(
      images_,
      [this](const wire::Capture& capture, const guestos::TaskAttribution& attribution) {
        return unwind(capture, attribution);
      },
      [this](const auto& released) { return write(released); });
}

std::vector<Stack> Recorder::unwind(const wire::Capture& capture,
                                    const guestos::TaskAttribution& attribution) {
  std::vector<Stack> parts;
  parts.reserve(2);
  parts.push_back(unwinder_.unwind(capture));
  interrupts_.mark(parts.front());
  if (user_interrupts_)
    user_interrupts_->mark(capture, parts.front(), [&] { return unwinder_.user_entry(capture); });
  if (auto user = user_part(capture, attribution, parts.front())) parts.push_back(std::move(*user));
  if (capture.firmware) add_firmware(capture, parts);
  return parts;
}

// Below a kernel stack that was not followed to its end nothing is known to be. Where it ends may
// not be distinguished from where the kernel was entered: then the adapter knows that it was.
std::optional<Stack> Recorder::user_part(const wire::Capture& capture,
                                         const guestos::TaskAttribution& attribution,
                                         const Stack& kernel) {
  if (auto walked = user_stacks_.walked(capture, attribution)) return walked;
  if (wire::WalkedFrames::find(capture, wire::PieceKind::kKernelFrames)) return std::nullopt;
  const bool ends = kernel.stop == StopReason::kEndOfStack;
  if (attribution.finds_user_by_unwinding && (ends || kernel.stop == StopReason::kUserMode)) {
    guestos::TaskAttribution known = attribution;
    known.user = entered_from(capture, attribution.address_space, kernel);
    return unwind_user(capture, known);
  }
  const bool is_below = kernel.stop == StopReason::kUserMode || kernel.stop == StopReason::kUser ||
                        (ends && attribution.user);
  if (!is_below) return std::nullopt;
  const auto entered = [&] { return unwinder_.user_entry(capture).registers; };
  return is_of_one_thread(capture, attribution, entered) ? unwind_user(capture, attribution)
                                                         : std::nullopt;
}

std::optional<Stack> Recorder::unwind_user(const wire::Capture& capture,
                                           const guestos::TaskAttribution& attribution) {
  auto user = user_stacks_.unwind(capture, attribution);
  if (user) feedback_.learn_user(capture.vcpu, *user);
  return user;
}

// Words on the stack of a thread that has no user code may look like an entry: the code that they
// name says whether it can be one. Hardware interrupts any code.
std::optional<arch::Registers> Recorder::entered_from(const wire::Capture& capture,
                                                      std::uint64_t address_space,
                                                      const Stack& kernel) {
  if (!user_stacks_.knows(address_space)) return std::nullopt;
  unwind::UserEntry entry = unwinder_.user_entry(capture);
  const std::uint8_t pc = arch::roles_of(capture.arch).pc;
  const bool interrupted = kernel.stop == StopReason::kUserMode && !entry.by_system_call;
  const bool is_there =
      entry.registers.has(pc) &&
      (interrupted ||
       user_stacks_.may_enter_from(address_space, {entry.registers.get(pc)}, entry.by_system_call));
  if (!is_there) entry.sp_slot.reset();
  if (is_there || entry.truncated) feedback_.learn_entry(capture, entry);
  const bool in_entry = kernel.frames.size() == 1;
  const bool is_own =
      entry.slot ? is_there && stack_users_.belong(*entry.slot, address_space, in_entry) : in_entry;
  return is_there && is_own ? std::optional(entry.registers) : std::nullopt;
}

Result<void> Recorder::write(const EarlySamples::Sample& sample) {
  std::vector<const Stack*> parts;
  for (const Stack& part : sample.parts) {
    RINGSIDE_TRY(used_functions_.note(part, images_));
    parts.push_back(&part);
  }
  // The user's part says more than the one frame of the kernel's unwinder.
  const bool is_user = sample.info.level == PrivilegeLevel::kUser && parts.size() > 1;
  RINGSIDE_TRY(writer_->add_sample(sample.info, std::span(parts).subspan(is_user ? 1 : 0)));
  if (!options_.keep_captures || !sample.capture) return {};
  wire::Capture kept = *sample.capture;
  kept.host_time_ns = sample.info.time_ns;
  return writer_->add_capture(kept);
}

recording::Statistics Recorder::statistics(const Sampler::Outcome& outcome) const {
  const engines::MemoryPauses pauses = engine_->memory_pauses();
  recording::Statistics statistics;
  statistics.due = outcome.due - outside_ticks_;
  statistics.lost = outcome.lost.total();
  statistics.late = outcome.late_ticks;
  statistics.duration_ns = outcome.last_tick_ns - outcome.first_tick_ns - outcome.user_pause_ns;
  statistics.counters = {
      {recording::kLostByHost, outcome.lost.stolen},
      {recording::kLostToVcpu, outcome.lost.delayed},
      {recording::kLostLate, outcome.lost.late},
      {recording::kLostToUnwinding, outcome.lost.queue_full},
      {recording::kLostToRing, outcome.lost.ring_full},
      {recording::kLostToGuestRing, outcome.lost.no_room},
      {recording::kLostByOverwriting, outcome.lost.overwritten},
      {recording::kLostToSuspension, outcome.lost.suspended},
      {recording::kLostToEngine, outcome.lost.failed},
      {"stops that timed out", outcome.retries},
      {"paused by its user ns", outcome.user_pause_ns},
      {recording::kMemoryReadPausesCounter, pauses.total_ns},
      {recording::kStoodStillCounter, engine_->stood_still_ns() - stood_still_before_ns_},
      {"memory reads", pauses.count},
      {"longest memory read pause ns", pauses.longest_ns},
      {recording::kStackBytesCounter, stack_bytes_},
      {recording::kTornCounter, engine_->tears_registers() ? samples_ : 0},
      {recording::kSlowFramesCounter, unwinder_.statistics().slow_frames},
  };
  // Which vCPUs are busy is not seen where some are not looked at, or halted ones are sampled, too.
  const bool sees_busy = !options_.states && !options_.halted && options_.vcpus.empty();
  if (sees_busy && engine_->stops_share_processors())
    statistics.counters[recording::kProcessorsCounter] = processors();
  if (options_.states) statistics.counters[recording::kWaitedStatesCounter] = waited_states_;
  for (std::size_t i = 0; i < kFrameSourceCount; ++i)
    statistics
        .counters[std::string(recording::kFramesByCounter) + name_of(static_cast<FrameSource>(i))] =
        unwinder_.statistics().frames_by_source[i];
  return statistics;
}

findings::GuestFacts Recorder::guest_facts(const Sampler::Outcome& outcome,
                                           const RecordResult& result) const {
  findings::GuestFacts facts;
  facts.arch = engine_->arch();
  facts.samples_by_level = samples_by_level_;
  facts.kernel_is_guests = knows_guest_;
  facts.kernel_left_s = kernel_left_s_;
  facts.trap_loops = trap_loops_;
  facts.trap_loop_at = trap_loop_at_;
  facts.no_code_ran = engine_->self_paced() != nullptr && samples_ + idle_ == 0 &&
                      outcome.due >= kEnoughTicks && outcome.lost.delayed == outcome.due;
  watch_.add_facts(facts);
  const bool is_reported = result.error && result.error->code == ErrorCode::kMismatch;
  // A replay has no more of the guest's memory than what showed where the kernel is.
  const bool is_settled = options_.replay_start_ns && watch_.kernel() != nullptr;
  if (is_reported || is_settled || !engine_->reads_memory()) facts.was_looked_for = false;
  return facts;
}

void Recorder::add_warnings(const Sampler::Outcome& outcome, RecordResult& result) const {
  result.warnings = engine_->caveats();
  if (outcome.lost.queue_full > 0)
    result.warnings.push_back(
        fmt::format("{} samples were lost because unwinding could not keep up; sample less often "
                    "(-F, --interval; with --engine ring, in the guest)",
                    outcome.lost.queue_full));
  if (outcome.lost_events > 0)
    result.warnings.push_back(
        fmt::format("{} events and allocations were lost, in the guest's rings or because writing "
                    "could not keep up",
                    outcome.lost_events));
  if (outcome.foreign_bytes > 0)
    result.warnings.push_back(fmt::format(
        "{} bytes of the serial line belong to no record: the line loses or adds bytes, "
        "or something else is written to it",
        outcome.foreign_bytes));
  if (outcome.damaged_counts > 0)
    result.warnings.push_back(fmt::format(
        "{} counts in the guest's rings are damaged: they grew by more than a CPU can do, and what "
        "they say is lost is not counted",
        outcome.damaged_counts));
  if (guest_events_.left_out() > 0)
    result.warnings.push_back(
        fmt::format("{} events and allocations are left out: they have too many names",
                    guest_events_.left_out()));
  if (!outcome.silence.empty()) result.warnings.push_back(outcome.silence);
  if (!outcome.moved.empty())
    result.warnings.push_back("the recording ends here, because " + outcome.moved);
  for (std::string& sentence :
       findings::sentences(findings::of_guest(), guest_facts(outcome, result)))
    result.warnings.push_back(std::move(sentence));
  for (std::string& caveat : watch_.adapter().caveats())
    result.warnings.push_back(std::move(caveat));
  if (!outcome.processes.empty()) result.warnings.push_back(outcome.processes);
  const engines::MemoryPauses pauses = engine_->memory_pauses();
  if (engine_->memory_reads_stop_the_guest() && pauses.count > 0)
    result.warnings.push_back(fmt::format(
        "the guest stood still {} times, {:.1f} ms in all, for its memory to be read: by {}",
        pauses.count, static_cast<double>(pauses.total_ns) / 1e6,
        engine_->explain_memory_access()));
}

}  // namespace ringside::session
