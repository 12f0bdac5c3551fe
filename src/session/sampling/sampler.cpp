#include "session/sampling/sampler.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <limits>

#include "base/clock.h"
#include "base/scheduling.h"
#include "engines/migration_watch.h"
#include "engines/patience.h"

namespace ringside::session {
namespace {

// So that stop() is heard, and Engine::attend() called.
constexpr std::uint64_t kLongestSleepNs = 20'000'000;
constexpr std::uint64_t kPollUserPauseNs = 100'000'000;
constexpr std::uint64_t kComesBackNs = 1'000'000'000;  // after a migration
constexpr unsigned kFailuresInARow = 5;
constexpr std::chrono::milliseconds kWaitForReader{50};
constexpr std::uint64_t kReadsAfterEndNs = 1'000'000'000;
// A silence of less is a loaded host's: in mid-recording, too, it only loses ticks.
constexpr std::chrono::nanoseconds kSilence = engines::Patience::kUsual;
// A longer stop is ringside's delay: the ticks that it took are lost.
constexpr std::uint64_t kLongestStopNs = 100'000'000;
constexpr std::size_t kCapturedBytes = 64u << 20;

std::size_t size_of(const wire::Capture& capture) {
  return sizeof(capture) + capture.bytes.capacity() +
         capture.pieces.capacity() * sizeof(wire::MemoryPiece);
}

std::size_t size_of(const engines::Tick& tick) {
  std::size_t bytes = 0;
  for (const wire::Capture& capture : tick.captures) bytes += size_of(capture);
  for (const engines::GuestEventWords& event : tick.events)
    bytes += sizeof(event) + event.words.capacity() * sizeof(event.words[0]);
  return bytes;
}

}  // namespace

Sampler::Sampler(engines::Engine& engine, CapturePlanner& planner, KernelWatch& watch,
                 BoundedQueue<Observation>& queue, const SamplingOptions& options)
    : engine_(&engine), planner_(&planner), watch_(&watch), queue_(&queue), options_(options) {}

Sampler::~Sampler() {
  stop();
  join();
}

void Sampler::start() {
  // Signals are the main thread's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] {
    run();
    queue_->close();
  });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Sampler::join() {
  if (thread_.joinable()) thread_.join();
}

// To be called only where the guest is not held.
void Sampler::park_if_asked() {
  if (parking_.is_asked()) engine_->before_suspension();
  if (!parking_.park_if_asked(stopping_)) return;
  suspensions_seen_ = parking_.suspensions();
  if (!clock_ || is_left_alone()) return;
  const std::uint64_t missed = clock_->missed();
  clock_->pass(std::min(monotonic_ns(), end_ns()));
  suspended_ticks_ += clock_->missed() - missed;
}

void Sampler::sleep_until(std::uint64_t time_ns) {
  while (!stopping_.load(std::memory_order_relaxed)) {
    park_if_asked();
    if (monotonic_ns() < time_ns) engine_->attend();
    const std::uint64_t now = monotonic_ns();
    if (now >= time_ns) return;
    const std::uint64_t until = std::min(time_ns, now + kLongestSleepNs);
    timespec wake{};
    wake.tv_sec = static_cast<time_t>(until / 1'000'000'000u);
    wake.tv_nsec = static_cast<long>(until % 1'000'000'000u);
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
  }
}

std::uint64_t Sampler::now_ns() const {
  if (options_.replay_start_ns) return std::max(*options_.replay_start_ns, replayed_to_ns_);
  return options_.deterministic ? ticks_seen_ * options_.interval_ns : monotonic_ns();
}

void Sampler::run() {
  // The kernel's default slack of 50 µs would be a quarter of the shortest interval.
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  task_attributor_.emplace(*engine_);
  if (engines::SelfPaced* const engine = engine_->self_paced())
    run_self_paced(*engine);
  else
    run_by_clock();
  outcome_.processes = task_attributor_->explain();
}

void Sampler::run_by_clock() {
  if (host_is_crowded(engine_->vcpu_count())) (void)schedule_first(0);
  sleep_until(monotonic_ns() + options_.delay_ns);
  start_ns_ = monotonic_ns();
  outcome_.first_tick_ns = start_ns_;
  outcome_.last_tick_ns = start_ns_;
  clock_.emplace(start_ns_, options_.interval_ns, options_.jitter, options_.seed);
  publish_end();
  engine_->set_read_turns(this);
  while (goes_on_) {
    sleep_until(std::min(clock_->due_ns(), end_ns()));
    const std::uint64_t now = monotonic_ns();
    if (stopping_.load(std::memory_order_relaxed) || now >= end_ns()) {
      if (!has_enough()) pass_until(std::min(now, end_ns()));
      break;
    }
    if (now < clock_->due_ns()) continue;  // ringside was suspended meanwhile
    plan_ = planner_->plan(watch_->adapter());
    take_due_tick();
    goes_on_ = poll_captures() && goes_on_;
    if (!is_left_alone()) continue;
    wait_for_guest();
    outcome_.last_tick_ns = monotonic_ns();
    clock_->skip_to(outcome_.last_tick_ns);
  }
  engine_->set_read_turns(nullptr);
  const std::uint64_t vcpus = engine_->vcpu_count();
  outcome_.due = (ticks_ + clock_->missed()) * vcpus;
  outcome_.lost.late += (clock_->missed() - suspended_ticks_) * vcpus;
  outcome_.lost.suspended += suspended_ticks_ * vcpus;
  report_silence();
}

// Counts the ticks that were due while ringside was busy to the end.
void Sampler::pass_until(std::uint64_t now_ns) {
  clock_->pass(now_ns);
  outcome_.last_tick_ns = std::max(outcome_.last_tick_ns, now_ns);
}

// An engine that had not answered at the end: what was recorded ends before it should.
void Sampler::report_silence() {
  if (!silence_ || outcome_.error || outcome_.guest_gone || !outcome_.moved.empty()) return;
  const std::chrono::nanoseconds silent(monotonic_ns() - silent_since_ns_);
  std::string text =
      fmt::format("nothing was sampled in the last {:.1f} s, because QEMU did not answer: {}",
                  std::chrono::duration<double>(silent).count(), silence_->message);
  if (silent < kSilence)
    outcome_.silence = std::move(text);
  else
    outcome_.error = Error{ErrorCode::kTimeout, std::move(text)};
}

void Sampler::take_due_tick() {
  goes_on_ = capture(clock_->due_ns(), plan_) && goes_on_;
  if (is_left_alone()) return;  // nothing was due meanwhile
  ++ticks_;
  outcome_.last_tick_ns = monotonic_ns();
  const std::uint64_t missed = clock_->missed();
  clock_->stand_still(std::min(pause_ns_, kLongestStopNs));
  clock_->advance(outcome_.last_tick_ns);
  // With the guest's own process, in the middle of a tick.
  if (parking_.suspensions() != suspensions_seen_) suspended_ticks_ += clock_->missed() - missed;
  suspensions_seen_ = parking_.suspensions();
}

// A tick that was due while the guest stood still for a read is taken when the guest has run for as
// long as it had stood until then: right after the stop, all ticks would meet what the guest does
// when it goes on.
std::uint64_t Sampler::due_after(const engines::ReadStop& stop) const {
  const std::uint64_t due = clock_->due_ns();
  return due > stop.from_ns && due < stop.to_ns ? stop.to_ns + (due - stop.from_ns) : due;
}

// Ticks go first. The guest is not stopped for reads any more when sampling has ended, except for a
// short while: what began late may give the samples their names.
Result<void> Sampler::wait(const engines::ReadStop& last, std::uint64_t from_ns) {
  while (goes_on_ && !reads_are_over()) {
    park_if_asked();
    if (is_left_alone()) return {};  // a read costs nothing, or is refused by the engine
    const std::uint64_t now = monotonic_ns();
    const bool samples = !has_enough() && now < end_ns();
    const std::uint64_t due = samples ? due_after(last) : std::numeric_limits<std::uint64_t>::max();
    if (due <= now) {
      take_due_tick();
    } else if (from_ns <= now) {
      return {};
    } else {
      sleep_until(std::min(due, from_ns));
    }
  }
  return fail(ErrorCode::kDisturbed, "sampling has ended");
}

// A read in the middle of one shot is for its next round.
bool Sampler::has_enough() const {
  return options_.one_shot || (options_.samples && sampled_ >= *options_.samples);
}

bool Sampler::reads_are_over() const {
  if (stopping_.load(std::memory_order_relaxed)) return true;
  return clock_ && options_.duration_ns && monotonic_ns() >= end_ns() + kReadsAfterEndNs;
}

void Sampler::run_self_paced(engines::SelfPaced& engine) {
  if (options_.delay_ns != 0) sleep_until(monotonic_ns() + options_.delay_ns);
  start_ns_ = now_ns();
  outcome_.first_tick_ns = start_ns_;
  outcome_.last_tick_ns = start_ns_;
  publish_end();
  // Passes the plan before anything is sampled.
  bool goes_on = take_tick(start_ns_);
  const std::uint64_t unit = engine.counts_instructions() ? options_.instruction_ns : 1;
  const auto started = engine.start({std::max<std::uint64_t>(options_.interval_ns / unit, 1),
                                     options_.jitter, options_.seed, options_.deterministic});
  if (!started) goes_on = !give_up(started.error());
  while (goes_on && !stopping_.load(std::memory_order_relaxed) && now_ns() < end_ns()) {
    const bool was_parked = parking_.park_if_asked(stopping_);
    const std::uint64_t ring_full = was_parked ? engine.counts().ring_full : 0;
    goes_on = take_tick(now_ns());  // counts what was lost until now
    if (was_parked) outcome_.lost.suspended += engine.counts().ring_full - ring_full;
    if (goes_on && is_left_alone()) wait_for_guest();
    outcome_.last_tick_ns = now_ns();
  }
  engine.stop();
  // Takes the samples from before the end.
  if (goes_on) (void)take_tick(now_ns());
  const engines::PaceCounts counts = engine.counts();
  outcome_.due = counts.due;
  outcome_.lost.stolen += counts.stolen;
  outcome_.lost.ring_full += counts.ring_full - outcome_.lost.suspended;
  outcome_.lost.delayed += counts.delayed;
  outcome_.lost.no_room += counts.no_room;
  outcome_.lost.overwritten += counts.overwritten;
  outcome_.lost_events += counts.lost_events;
  outcome_.foreign_bytes = counts.foreign_bytes;
  outcome_.damaged_counts = counts.damaged;
}

std::uint64_t Sampler::end_ns() const {
  if (!options_.duration_ns) return std::numeric_limits<std::uint64_t>::max();
  return start_ns_ + *options_.duration_ns + before_first_run_ns_;
}

void Sampler::publish_end() {
  const bool not_yet = options_.starts_paused && outcome_.user_pause_ns == 0;
  const bool by_host_time = !options_.deterministic && !options_.replay_start_ns;
  if (not_yet || !by_host_time || !options_.duration_ns) return;
  host_end_ns_.store(end_ns() + (clock_ ? kReadsAfterEndNs : 0), std::memory_order_relaxed);
}

bool Sampler::take_tick(std::uint64_t due_ns) {
  return capture(due_ns, planner_->plan(watch_->adapter())) && poll_captures();
}

bool Sampler::capture(std::uint64_t due_ns, const engines::TickPlan& plan) {
  const std::uint64_t now = now_ns();
  pause_ns_ = 0;
  if (now > due_ns + options_.interval_ns / 2) ++outcome_.late_ticks;
  auto tick = engine_->tick(plan);
  if (!tick && engines::is_of_migration(tick.error()))
    tick = engines::Tick::of_guest(engines::LeftAlone::kMigrating);
  if (!tick) {
    if (engine_->self_paced() == nullptr) outcome_.lost.failed += engine_->vcpu_count();
    if (tick.error().code == ErrorCode::kTimeout) {
      if (!silence_) silent_since_ns_ = now;
      silence_ = tick.error();
    }
    return !give_up(tick.error());
  }
  failures_in_a_row_ = 0;
  silence_.reset();
  // A tick of which nothing is left shows nothing yet.
  if (!tick->captures.empty() || tick->not_run == 0) begun_.store(true, std::memory_order_relaxed);
  left_alone_ = tick->left_alone;
  pause_ns_ = tick->pause_ns;
  outcome_.lost.stolen += tick->not_run;
  if (engine_->self_paced() == nullptr && !is_left_alone()) {
    const std::uint64_t seen = tick->captures.size() + tick->not_run;
    outcome_.lost.failed +=
        engine_->vcpu_count() - std::min<std::uint64_t>(seen, engine_->vcpu_count());
  }
  if (tick->empty()) return true;
  const std::size_t bytes = size_of(*tick);
  for (const wire::Capture& capture : tick->captures)
    if (capture.disposition == wire::Disposition::kSampled) ++sampled_;
  captured_bytes_ += bytes;
  captured_.push_back({std::move(*tick), now, bytes});
  return true;
}

// In order. More may come while one is looked at; where those are too many, the first go unlooked.
bool Sampler::poll_captures() {
  while (!captured_.empty()) {
    Captured next = std::move(captured_.front());
    captured_.pop_front();
    const bool too_many = captured_bytes_ > kCapturedBytes;
    captured_bytes_ -= next.bytes;
    if (too_many || !goes_on_ || (clock_ && reads_are_over()))
      enqueue(std::move(next.tick), {});
    else if (!poll(std::move(next.tick), next.time_ns))
      goes_on_ = false;
  }
  return goes_on_;
}

bool Sampler::poll(engines::Tick tick, std::uint64_t time_ns) {
  if (!tick.captures.empty())
    replayed_to_ns_ = std::max(replayed_to_ns_, tick.captures.back().host_time_ns);
  engines::Tick reporters;
  if (tick.reporter) reporters.captures.push_back(std::move(*tick.reporter));
  auto learnt = watch_->poll(*engine_, reporters.empty() ? tick : reporters, time_ns);
  if (learnt && learnt->reboot) adopt(*learnt->reboot);
  if (learnt && learnt->new_recipes) planner_->renew();
  if (learnt && learnt->kernel) {
    updates_ = learnt->kernel;
    user_interrupts_.reset();  // of the kernel before
  }
  if (learnt) std::move(learnt->code.begin(), learnt->code.end(), std::back_inserter(new_code_));
  if (learnt && learnt->user_interrupts) user_interrupts_ = std::move(learnt->user_interrupts);
  planner_->poll(tick, watch_->adapter());
  auto attributions = task_attributor_->poll(tick, *watch_);
  if (attributions && attributions->updates.new_recipes) planner_->renew();
  if (attributions) add(std::move(attributions->updates));
  enqueue(std::move(tick), attributions ? std::move(attributions->by_capture)
                                        : std::vector<guestos::TaskAttribution>());
  if (clock_ && reads_are_over()) return true;  // why they failed
  if (!learnt) return !give_up(learnt.error());
  if (!attributions) return !give_up(attributions.error());
  return is_the_right_kernel();
}

// Facts about the guest before that have not been handed on are of no use.
void Sampler::adopt(const KernelWatch::Reboot& reboot) {
  const bool was_gone = reboot_ && reboot_->kernel_is_gone;
  reboot_ = {.kernel_is_gone = was_gone || reboot.kernel_is_gone};
  if (reboot.kernel_is_gone) {
    updates_.reset();
    new_code_.clear();
    user_interrupts_.reset();
  }
  process_updates_ = {};
  task_attributor_->start_over();
}

void Sampler::add(guestos::ProcessUpdates updates) {
  std::move(updates.spaces.begin(), updates.spaces.end(),
            std::back_inserter(process_updates_.spaces));
  std::move(updates.names.begin(), updates.names.end(), std::back_inserter(process_updates_.names));
}

void Sampler::enqueue(engines::Tick tick, std::vector<guestos::TaskAttribution> attributions) {
  std::size_t bytes = size_of(tick);
  const std::uint64_t events = tick.events.size();
  std::uint64_t ticks = 0;
  for (const wire::Capture& capture : tick.captures) ticks += capture.weight;
  ticks_seen_ += ticks;
  attributions.resize(tick.captures.size());
  for (const guestos::TaskAttribution& attribution : attributions)
    bytes += sizeof(attribution) + attribution.user_stack.capacity();
  Observation observation{std::move(tick),  reboot_,
                          updates_,         new_code_,
                          user_interrupts_, {std::move(attributions), process_updates_}};
  if (queue_->push(std::move(observation), bytes)) {
    reboot_.reset();
    updates_.reset();
    new_code_.clear();
    user_interrupts_.reset();
    process_updates_ = {};
  } else {
    outcome_.lost.queue_full += ticks;
    outcome_.lost_events += events;
  }
  if (options_.deterministic || options_.one_shot) wait_until_handled();
}

void Sampler::wait_until_handled() {
  while (!stopping_.load(std::memory_order_relaxed) &&
         !queue_->wait_until_handled(kWaitForReader)) {
  }
}

bool Sampler::is_the_right_kernel() {
  const FoundKernel* kernel = watch_->kernel();
  if (!kernel || kernel->identity.sameness != kernel_image::MatchResult::kDifferent) return true;
  outcome_.error = Error{ErrorCode::kMismatch, watch_->explain()};
  return false;
}

bool Sampler::give_up(const Error& error) {
  // A loaded host may keep a vCPU from stopping, and QEMU resumes a guest when it has saved it; a
  // guest that is gone will not come back.
  const bool may_pass = error.code == ErrorCode::kTimeout || error.code == ErrorCode::kDisturbed;
  const bool was_interrupted =
      error.code == ErrorCode::kDisturbed && stopping_.load(std::memory_order_relaxed);
  if (was_interrupted) return true;
  if (error.code == ErrorCode::kMigrating) return false;
  if (error.code == ErrorCode::kMoved) {
    outcome_.moved = error.message;
    return true;
  }
  if (may_pass && ++failures_in_a_row_ < kFailuresInARow) {
    if (error.code == ErrorCode::kTimeout) ++outcome_.retries;
    return false;
  }
  outcome_.guest_gone = error.code == ErrorCode::kClosed;
  if (!outcome_.guest_gone) outcome_.error = error;
  return true;
}

void Sampler::wait_for_guest() {
  const std::uint64_t start = monotonic_ns();
  const bool not_yet = options_.starts_paused && outcome_.user_pause_ns == 0;
  waits_.store(left_alone_, std::memory_order_relaxed);
  moved_since_ns_.reset();
  while (!stopping_.load(std::memory_order_relaxed) && (not_yet || now_ns() < end_ns())) {
    const auto running = engine_->guest_is_running();
    if (!running && may_come_back(running.error())) {
      waits_.store(engines::LeftAlone::kMigrating, std::memory_order_relaxed);
    } else if (!running) {
      if (give_up(running.error())) stop();
      break;
    } else if (*running) {
      waits_.store(engines::LeftAlone::kNo, std::memory_order_relaxed);
      break;
    }
    sleep_until(monotonic_ns() + kPollUserPauseNs);
  }
  left_alone_ = engines::LeftAlone::kNo;
  // The pause is the host's time, which does not count where runs are to be the same.
  if (!options_.deterministic)
    outcome_.user_pause_ns += std::max<std::uint64_t>(monotonic_ns() - start, 1);
  if (not_yet) before_first_run_ns_ = outcome_.user_pause_ns;
  publish_end();
}

// A migration into a file is a snapshot to some: its user lets the guest go on at once.
bool Sampler::may_come_back(const Error& error) {
  if (error.code != ErrorCode::kMoved) return false;
  const std::uint64_t now = monotonic_ns();
  if (!moved_since_ns_) moved_since_ns_ = now;
  return now < *moved_since_ns_ + kComesBackNs;
}

}  // namespace ringside::session
