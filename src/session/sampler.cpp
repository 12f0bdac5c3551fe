#include "session/sampler.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <limits>

#include "base/clock.h"
#include "base/scheduling.h"
#include "wire/sample_clock.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kLongestSleepNs = 50'000'000;  // so that stop() is heard
constexpr std::uint64_t kPollUserPauseNs = 100'000'000;
constexpr unsigned kFailuresInARow = 5;
constexpr std::chrono::milliseconds kWaitForReader{50};

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

void Sampler::sleep_until(std::uint64_t time_ns) const {
  while (!stopping_.load(std::memory_order_relaxed)) {
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
  owner_watch_.emplace(*engine_);
  if (engines::SelfPaced* const engine = engine_->self_paced())
    run_self_paced(*engine);
  else
    run_by_clock();
}

void Sampler::run_by_clock() {
  if (host_is_crowded(engine_->vcpu_count())) (void)schedule_first(0);
  sleep_until(monotonic_ns() + options_.delay_ns);
  const std::uint64_t start = monotonic_ns();
  outcome_.first_tick_ns = start;
  outcome_.last_tick_ns = start;
  wire::SampleClock clock(start, options_.interval_ns, options_.jitter, options_.seed);
  std::uint64_t ticks = 0;
  while (true) {
    sleep_until(std::min(clock.due_ns(), end_ns(start)));
    const std::uint64_t paused_before = outcome_.user_pause_ns;
    if (stopping_.load(std::memory_order_relaxed) || monotonic_ns() >= end_ns(start)) break;
    ++ticks;
    if (!take_tick(clock.due_ns())) break;
    if (user_paused_) {
      wait_for_user();
      --ticks;  // nothing was due while the guest was not to run
    }
    outcome_.last_tick_ns = monotonic_ns();
    if (outcome_.user_pause_ns != paused_before)
      clock.skip_to(outcome_.last_tick_ns);
    else
      clock.advance(outcome_.last_tick_ns);
  }
  const std::uint64_t vcpus = engine_->vcpu_count();
  outcome_.due = (ticks + clock.missed()) * vcpus;
  outcome_.lost += clock.missed() * vcpus;
}

void Sampler::run_self_paced(engines::SelfPaced& engine) {
  if (options_.delay_ns != 0) sleep_until(monotonic_ns() + options_.delay_ns);
  const std::uint64_t start = now_ns();
  outcome_.first_tick_ns = start;
  outcome_.last_tick_ns = start;
  // Tells the plan before anything is sampled.
  bool goes_on = take_tick(start);
  const std::uint64_t unit = engine.counts_instructions() ? options_.instruction_ns : 1;
  const auto started = engine.start({std::max<std::uint64_t>(options_.interval_ns / unit, 1),
                                     options_.jitter, options_.seed, options_.deterministic});
  if (!started) goes_on = !give_up(started.error());
  while (goes_on && !stopping_.load(std::memory_order_relaxed) && now_ns() < end_ns(start)) {
    goes_on = take_tick(now_ns());
    if (goes_on && user_paused_) wait_for_user();
    outcome_.last_tick_ns = now_ns();
  }
  engine.stop();
  // What was sampled before the end.
  if (goes_on) (void)take_tick(now_ns());
  const engines::PaceCounts counts = engine.counts();
  outcome_.due = counts.due;
  outcome_.lost += counts.lost;
  outcome_.stolen += counts.stolen;
}

// The duration counts time in which the guest was to run.
std::uint64_t Sampler::end_ns(std::uint64_t start_ns) const {
  if (!options_.duration_ns) return std::numeric_limits<std::uint64_t>::max();
  return start_ns + *options_.duration_ns + outcome_.user_pause_ns;
}

bool Sampler::take_tick(std::uint64_t due_ns) {
  const std::uint64_t now = now_ns();
  if (now > due_ns + options_.interval_ns / 2) ++outcome_.late_ticks;
  auto tick = engine_->tick(planner_->plan(watch_->adapter()));
  if (!tick) {
    if (engine_->self_paced() == nullptr) outcome_.lost += engine_->vcpu_count();
    return !give_up(tick.error());
  }
  failures_in_a_row_ = 0;
  user_paused_ = tick->paused_by_user;
  outcome_.lost += tick->not_run;
  outcome_.stolen += tick->not_run;
  if (tick->captures.empty()) return true;
  replayed_to_ns_ = std::max(replayed_to_ns_, tick->captures.back().host_time_ns);
  auto learnt = watch_->look(*engine_, *tick, now);
  if (learnt && learnt->new_recipes) planner_->renew();
  if (learnt && learnt->kernel) news_ = learnt->kernel;
  if (learnt) std::move(learnt->code.begin(), learnt->code.end(), std::back_inserter(new_code_));
  planner_->look(*tick, watch_->adapter());
  auto owners = owner_watch_->look(*tick, *watch_);
  if (owners && owners->news.new_recipes) planner_->renew();
  if (owners) add(std::move(owners->news));
  hand_on(std::move(*tick), owners ? std::move(owners->by_capture) : std::vector<guestos::Owner>());
  if (!learnt) return !give_up(learnt.error());
  if (!owners) return !give_up(owners.error());
  return is_the_right_kernel();
}

void Sampler::add(guestos::ProcessNews news) {
  std::move(news.spaces.begin(), news.spaces.end(), std::back_inserter(process_news_.spaces));
  std::move(news.names.begin(), news.names.end(), std::back_inserter(process_news_.names));
}

void Sampler::hand_on(engines::Tick tick, std::vector<guestos::Owner> owners) {
  std::size_t bytes = 0;
  std::uint64_t ticks = 0;
  for (const wire::Capture& capture : tick.captures) {
    bytes += sizeof(capture) + capture.bytes.capacity() +
             capture.pieces.capacity() * sizeof(wire::MemoryPiece);
    ticks += capture.weight;
  }
  ticks_seen_ += ticks;
  owners.resize(tick.captures.size());
  for (const guestos::Owner& owner : owners) bytes += sizeof(owner) + owner.user_stack.capacity();
  Observation observation{std::move(tick), news_, new_code_, {std::move(owners), process_news_}};
  if (queue_->push(std::move(observation), bytes)) {
    news_.reset();
    new_code_.clear();
    process_news_ = {};
  } else {
    outcome_.lost += ticks;
    outcome_.queue_full += ticks;
  }
  if (options_.deterministic) wait_until_handled();
}

void Sampler::wait_until_handled() {
  while (!stopping_.load(std::memory_order_relaxed) &&
         !queue_->wait_until_handled(kWaitForReader)) {
  }
}

bool Sampler::is_the_right_kernel() {
  const FoundKernel* kernel = watch_->kernel();
  if (!kernel || kernel->identity.sameness != elf::Sameness::kDifferent) return true;
  outcome_.error = Error{ErrorCode::kMismatch, watch_->explain()};
  return false;
}

bool Sampler::give_up(const Error& error) {
  // A loaded host may keep a vCPU from stopping, and QEMU resumes a guest when it has saved it; a
  // guest that is gone will not come back.
  const bool may_pass = error.code == ErrorCode::kTimeout || error.code == ErrorCode::kDisturbed;
  if (may_pass && ++failures_in_a_row_ < kFailuresInARow) {
    if (error.code == ErrorCode::kTimeout) ++outcome_.retries;
    return false;
  }
  outcome_.guest_gone = error.code == ErrorCode::kClosed;
  if (!outcome_.guest_gone) outcome_.error = error;
  return true;
}

void Sampler::wait_for_user() {
  const std::uint64_t start = monotonic_ns();
  while (!stopping_.load(std::memory_order_relaxed)) {
    const auto running = engine_->guest_is_running();
    if (!running) {
      if (give_up(running.error())) stop();
      break;
    }
    if (*running) break;
    sleep_until(monotonic_ns() + kPollUserPauseNs);
  }
  user_paused_ = false;
  // Of the host's time, which does not count where runs are to be the same.
  if (!options_.deterministic)
    outcome_.user_pause_ns += std::max<std::uint64_t>(monotonic_ns() - start, 1);
}

}  // namespace ringside::session
