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
#include "session/sample_clock.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kLongestSleepNs = 50'000'000;  // so that stop() is heard
constexpr std::uint64_t kPollUserPauseNs = 100'000'000;
constexpr unsigned kTimeoutsInARow = 5;

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

void Sampler::run() {
  // The kernel's default slack of 50 µs would be a quarter of the shortest interval.
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  if (host_is_crowded(engine_->vcpu_count())) (void)schedule_first(0);
  sleep_until(monotonic_ns() + options_.delay_ns);
  const std::uint64_t start = monotonic_ns();
  outcome_.first_tick_ns = start;
  outcome_.last_tick_ns = start;
  SampleClock clock(start, options_.interval_ns, options_.jitter, options_.seed);
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

// The duration counts time in which the guest was to run.
std::uint64_t Sampler::end_ns(std::uint64_t start_ns) const {
  if (!options_.duration_ns) return std::numeric_limits<std::uint64_t>::max();
  return start_ns + *options_.duration_ns + outcome_.user_pause_ns;
}

bool Sampler::take_tick(std::uint64_t due_ns) {
  const std::uint64_t now = monotonic_ns();
  if (now > due_ns + options_.interval_ns / 2) ++outcome_.late_ticks;
  auto tick = engine_->tick(planner_->plan(watch_->adapter()));
  if (!tick) {
    outcome_.lost += engine_->vcpu_count();
    return !give_up(tick.error());
  }
  timeouts_in_a_row_ = 0;
  user_paused_ = tick->captures.empty();
  if (user_paused_) return true;
  auto learnt = watch_->look(*engine_, *tick, now);
  if (learnt && learnt->new_recipes) planner_->renew();
  if (learnt && learnt->kernel) news_ = learnt->kernel;
  if (learnt) std::move(learnt->code.begin(), learnt->code.end(), std::back_inserter(new_code_));
  planner_->look(*tick, watch_->adapter());
  std::size_t bytes = 0;
  for (const wire::Capture& capture : tick->captures)
    bytes += sizeof(capture) + capture.bytes.size();
  Observation observation{std::move(*tick), news_, new_code_};
  if (queue_->push(std::move(observation), bytes)) {
    news_.reset();
    new_code_.clear();
  } else {
    outcome_.lost += engine_->vcpu_count();
    outcome_.queue_full += engine_->vcpu_count();
  }
  if (!learnt) return !give_up(learnt.error());
  return is_the_right_kernel();
}

bool Sampler::is_the_right_kernel() {
  const FoundKernel* kernel = watch_->kernel();
  if (!kernel || kernel->identity.sameness != elf::Sameness::kDifferent) return true;
  outcome_.error = Error{ErrorCode::kMismatch, watch_->explain()};
  return false;
}

bool Sampler::give_up(const Error& error) {
  // A loaded host may keep a vCPU from stopping; a guest that is gone will not come back.
  if (error.code == ErrorCode::kTimeout && ++timeouts_in_a_row_ < kTimeoutsInARow) {
    ++outcome_.retries;
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
  outcome_.user_pause_ns += std::max<std::uint64_t>(monotonic_ns() - start, 1);
}

}  // namespace ringside::session
