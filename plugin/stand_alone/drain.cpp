#include "plugin/stand_alone/drain.h"

#include <time.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "arch/arch_info.h"
#include "base/clock.h"
#include "plugin/own_thread.h"
#include "plugin/stand_alone/stack_recipe.h"
#include "wire/futex.h"
#include "wire/record.h"

namespace ringside::plugin {
namespace {

constexpr std::uint64_t kIntervalNs = 10'000'000;  // so much is lost where QEMU is killed
constexpr std::uint64_t kSeed = 1;

}  // namespace

Drain::Drain(SharedRing& ring, Arch arch, const StandAlone& wishes, OutputFile& file)
    : ring_(&ring),
      file_(&file),
      interval_(wishes.interval),
      start_after_ns_(wishes.start_after_ns),
      taken_(ring.vcpus()),
      counted_(ring.vcpus()) {
  for (unsigned n = 0; n < ring.vcpus(); ++n)
    counted_[n].vcpu = VcpuId{static_cast<std::uint16_t>(n)};
  plan(arch, wishes);
  if (wishes.format == OutFormat::kRingside)
    enable(wire::SourceId::kCode, wire::Backpressure::kDrop);
  if (start_after_ns_ == 0) start_sampling();
}

void Drain::plan(Arch arch, const StandAlone& wishes) {
  const auto recipe = stack_recipe(arch);
  for (unsigned n = 0; n < ring_->vcpus(); ++n) {
    wire::RingPlan plan;
    const bool wanted = wishes.cpus.empty() || std::find(wishes.cpus.begin(), wishes.cpus.end(),
                                                         counted_[n].vcpu) != wishes.cpus.end();
    plan.wanted = wanted ? 1 : 0;
    plan.kernel = plan.user = 1;
    plan.recipe_arch = static_cast<std::uint32_t>(Arch::kUnknown);
    plan.kernel_budget.stack_bytes[0] = wishes.stack_bytes;
    plan.user_budget.bytes = 0;  // user code is one frame
    plan.ops = static_cast<std::uint32_t>(recipe.size());
    std::copy(recipe.begin(), recipe.end(), plan.recipe.begin());
    ring_->vcpu(n).plan.store(plan);
  }
}

void Drain::enable(wire::SourceId id, wire::Backpressure backpressure) {
  wire::RingSource& source = ring_->source(id);
  source.backpressure.store(backpressure, std::memory_order_relaxed);
  source.enabled.store(1, std::memory_order_release);
}

void Drain::disable_all() {
  for (const auto id : {wire::SourceId::kClock, wire::SourceId::kCode}) {
    ring_->source(id).enabled.store(0, std::memory_order_release);
    ring_->source(id).backpressure.store(wire::Backpressure::kDrop, std::memory_order_release);
  }
}

void Drain::start_sampling() {
  wire::RingHeader& header = ring_->header();
  header.interval.store(interval_, std::memory_order_relaxed);
  header.jitter.store(1, std::memory_order_relaxed);
  header.seed.store(kSeed, std::memory_order_relaxed);
  header.start.store(1, std::memory_order_release);
  // A guest whose time is its instructions does not mind waiting: nothing is lost then.
  enable(wire::SourceId::kClock, header.clock == wire::RingClock::kInstructions
                                     ? wire::Backpressure::kLockstep
                                     : wire::Backpressure::kDrop);
  header.doorbell.fetch_add(1, std::memory_order_release);
  wire::futex_wake(header.doorbell);
}

void Drain::on_vcpu_start() {
  if (has_thread_.test_and_set()) return;
  // Nobody would take what vCPUs wait for.
  if (!start_own_thread([](void* self) { static_cast<Drain*>(self)->run(); }, this)) disable_all();
}

void Drain::run() {
  wire::RingHeader& header = ring_->header();
  if (start_after_ns_ != 0) {
    const timespec delay{static_cast<time_t>(start_after_ns_ / 1'000'000'000u),
                         static_cast<long>(start_after_ns_ % 1'000'000'000u)};
    ::nanosleep(&delay, nullptr);
    start_sampling();
  }
  while (true) {
    const std::uint32_t bell = header.bell.load(std::memory_order_acquire);
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      take_all();
    }
    header.doorbell.fetch_add(1);
    // The pacer sleeps on the same word: it is woken for a vCPU that waits only.
    if (header.waiting.load() != 0) wire::futex_wake(header.doorbell);
    wire::futex_wait(header.bell, bell, monotonic_ns() + kIntervalNs);
  }
}

void Drain::finish() {
  const std::lock_guard lock(mutex_);
  disable_all();
  take_all();
  for (unsigned n = 0; n < ring_->vcpus(); ++n) take_last_counts(n);
  (void)file_->flush();
  ended_ = true;
  say_counts();
}

// As the file has it: all that was due is taken, idle, left out or lost.
void Drain::say_counts() const {
  std::uint64_t taken = 0, idle = 0, skipped = 0, stolen = 0, full = 0, delayed = 0;
  for (unsigned n = 0; n < ring_->vcpus(); ++n) {
    taken += taken_[n];
    idle += counted_[n].idle;
    skipped += counted_[n].skipped;
    stolen += counted_[n].stolen;
    full += counted_[n].lost;
    delayed += counted_[n].delayed;
  }
  const std::uint64_t lost = stolen + full + delayed;
  std::fprintf(stderr,
               "ringside: %" PRIu64 " ticks due: %" PRIu64 " taken, %" PRIu64 " idle, %" PRIu64
               " left out, %" PRIu64 " lost (%" PRIu64 " vCPU not run by the host, %" PRIu64
               " plugin or vCPU not in time, %" PRIu64 " memory for samples full)\n",
               taken + idle + skipped + lost, taken, idle, skipped, lost, stolen, delayed, full);
}

void Drain::take_all() {
  for (unsigned n = 0; n < ring_->vcpus(); ++n) {
    take_records(n);
    take_counts(n);
  }
  if (!file_->flush()) disable_all();
}

void Drain::take_records(unsigned n) {
  wire::RingVcpu& vcpu = ring_->vcpu(n);
  const std::uint64_t head = vcpu.head.load(std::memory_order_acquire);
  std::uint64_t tail = vcpu.tail.load(std::memory_order_relaxed);
  while (tail != head) {
    const Bytes record = ring_->record_at(n, tail);
    if (!wire::is_padding(record)) file_->add_record(record);
    taken_[n] += wire::trusted_record_ticks(record);
    tail += record.size();
  }
  vcpu.tail.store(tail, std::memory_order_release);
}

wire::VcpuCounts Drain::counts(unsigned n) const {
  return {counted_[n].vcpu,
          monotonic_ns(),
          ring_->counter(n, wire::RingCounter::kIdleTicks),
          ring_->counter(n, wire::RingCounter::kSkippedTicks),
          ring_->counter(n, wire::RingCounter::kLostTicks),
          ring_->counter(n, wire::RingCounter::kStolenTicks),
          ring_->counter(n, wire::RingCounter::kDelayedTicks)};
}

void Drain::take_counts(unsigned n) {
  const wire::VcpuCounts now = counts(n);
  if (now.has_same_counts(counted_[n])) return;
  counted_[n] = now;
  file_->add_counts(now);
}

// Ticks that were due and have not come to the file count as delayed.
void Drain::take_last_counts(unsigned n) {
  wire::VcpuCounts& last = counted_[n] = counts(n);
  const std::uint64_t due = ring_->counter(n, wire::RingCounter::kDueTicks);
  const std::uint64_t known =
      taken_[n] + last.idle + last.skipped + last.stolen + last.lost + last.delayed;
  last.delayed += due - std::min(due, known);
  file_->add_counts(last);
}

}  // namespace ringside::plugin
