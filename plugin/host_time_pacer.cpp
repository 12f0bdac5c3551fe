#include "plugin/host_time_pacer.h"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "plugin/block_end.h"
#include "plugin/last_instruction.h"
#include "plugin/own_thread.h"
#include "plugin/vcpu_processors.h"
#include "wire/futex.h"

namespace ringside::plugin {
namespace {

constexpr std::uint64_t kPollReaderNs = 500'000'000;
// At shorter intervals each vCPU looks after its own waits: the plugin's thread would be late for
// the next tick.
constexpr std::uint64_t kDenseNs = 500'000;
constexpr std::uint64_t kLateNs = 100'000;

// A flag has a cache line to itself, wherever QEMU puts the elements: no other vCPU's flag, nor
// what else QEMU has there, is in the line that each block reads.
constexpr std::size_t kFlagElement = 128;
constexpr std::size_t kFlagOffset = 64;

// Not handed to QEMU as the callback's argument: that is code in every block.
HostTimePacer* the_pacer = nullptr;

void call_on_block(unsigned vcpu, void*) { the_pacer->on_block(vcpu); }

}  // namespace

HostTimePacer::HostTimePacer(SharedRing& ring, VcpuState* vcpus, Arch arch)
    : ring_(&ring),
      vcpus_(vcpus),
      arch_(arch),
      flag_{qemu_plugin_scoreboard_new(kFlagElement), kFlagOffset} {
  the_pacer = this;
}

void HostTimePacer::instrument(qemu_plugin_tb* block) {
  std::array<std::byte, kLongestInstruction> code;
  if (only_skips(arch_, last_instruction(block, code))) return;
  qemu_plugin_register_vcpu_tb_exec_cond_cb(block, call_on_block, QEMU_PLUGIN_CB_R_REGS,
                                            QEMU_PLUGIN_COND_NE, flag_, 0, nullptr);
}

void HostTimePacer::on_start(unsigned n) {
  vcpus_[n].stolen.begin();
  // Not before the first vCPU: by then QEMU has become a daemon, if it is to be one.
  if (has_thread_.test_and_set()) return;
  // Without it no tick is ever due.
  (void)start_own_thread([](void* self) { static_cast<HostTimePacer*>(self)->run(); }, this);
}

void HostTimePacer::on_block(unsigned n) {
  if (!is_its_thread(*ring_, vcpus_, n)) return;
  // In this order: a tick that comes between the two raises the flag again.
  qemu_plugin_u64_set(flag_, n, 0);
  VcpuState& state = vcpus_[n];
  if (const std::uint64_t ticks = state.ticks.exchange(0, std::memory_order_acq_rel)) {
    state.processor.store(::sched_getcpu(), std::memory_order_relaxed);
    const StolenTime::Found found = state.stolen.found();
    if (found == StolenTime::Found::kWaited) {
      ring_->count(n, wire::RingCounter::kStolenTicks, ticks);
    } else {
      const bool is_taken = found == StolenTime::Found::kRan;
      ring_->count(n, wire::RingCounter::kDelayedTicks, ticks - is_taken);
      if (is_taken) state.vcpu.sample(1);
    }
  }
  if (state.vcpu.serve()) qemu_plugin_u64_set(flag_, n, 1);
}

void HostTimePacer::count_as_idle(unsigned n) {
  qemu_plugin_u64_set(flag_, n, 0);
  if (const std::uint64_t ticks = vcpus_[n].ticks.exchange(0, std::memory_order_acq_rel))
    ring_->count(n, wire::RingCounter::kIdleTicks, ticks);
}

void HostTimePacer::on_idle(unsigned n) {
  vcpus_[n].idle.store(true, std::memory_order_release);
  count_as_idle(n);
}

// A tick may have come just when the vCPU went to sleep.
void HostTimePacer::on_resume(unsigned n) {
  vcpus_[n].idle.store(false, std::memory_order_release);
  count_as_idle(n);
  raise_for_request();
}

void HostTimePacer::start_anew(std::uint64_t now_ns) {
  wire::RingHeader& header = ring_->header();
  const std::uint32_t start = header.start.load(std::memory_order_acquire);
  if (start == header.started.load(std::memory_order_relaxed)) return;
  const std::uint64_t interval_ns = header.interval.load(std::memory_order_relaxed);
  is_dense_.store(interval_ns <= kDenseNs, std::memory_order_relaxed);
  clock_.emplace(now_ns, interval_ns, header.jitter.load(std::memory_order_relaxed) != 0,
                 header.seed.load(std::memory_order_relaxed));
  header.started.store(start, std::memory_order_release);
}

void HostTimePacer::tick(std::uint64_t due_ns, std::uint64_t lost, bool is_late) {
  const bool polls = !is_dense_.load(std::memory_order_relaxed);
  for (unsigned n = 0; n < ring_->vcpus(); ++n) {
    VcpuState& state = vcpus_[n];
    if (!state.online.load(std::memory_order_acquire)) continue;
    ring_->count(n, wire::RingCounter::kDueTicks, 1 + lost);
    if (lost != 0) ring_->count(n, wire::RingCounter::kDelayedTicks, lost);
    if (state.idle.load(std::memory_order_acquire)) {
      ring_->count(n, wire::RingCounter::kIdleTicks);
    } else {
      // Not where it is still to take one.
      if (state.ticks.load(std::memory_order_relaxed) == 0)
        polls ? state.stolen.poll(due_ns, is_late) : state.stolen.set_due(due_ns);
      state.ticks.fetch_add(1, std::memory_order_acq_rel);
      qemu_plugin_u64_set(flag_, n, 1);
    }
  }
}

void HostTimePacer::raise_for_request() {
  const wire::RingHeader& header = ring_->header();
  const std::uint32_t number = header.requested.load(std::memory_order_acquire);
  if (number == header.answered.load(std::memory_order_acquire)) return;
  const unsigned n = header.request_vcpu.load(std::memory_order_relaxed);
  if (n < ring_->vcpus() && vcpus_[n].online.load(std::memory_order_acquire))
    qemu_plugin_u64_set(flag_, n, 1);
}

cpu_set_t HostTimePacer::processors_of_running() const {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  for (unsigned n = 0; n < ring_->vcpus(); ++n) {
    const VcpuState& state = vcpus_[n];
    const int processor = state.processor.load(std::memory_order_relaxed);
    const bool runs = state.online.load(std::memory_order_acquire) && !state.idle.load();
    if (runs && processor >= 0 && processor < CPU_SETSIZE) CPU_SET(processor, &processors);
  }
  return processors;
}

void HostTimePacer::run() {
  ::prctl(PR_SET_NAME, "ringside", 0UL, 0UL, 0UL);
  // The kernel's default slack of 50 µs is half of the shortest interval.
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  wire::RingHeader& header = ring_->header();
  std::uint64_t next_poll_ns = 0;  // after the reader
  VcpuProcessors processors;
  while (true) {
    const std::uint32_t seen = header.doorbell.load(std::memory_order_acquire);
    std::uint64_t now = monotonic_ns();
    if (now >= next_poll_ns) {
      next_poll_ns = now + kPollReaderNs;
      ring_->abandon_if_reader_is_gone();
    }
    start_anew(now);
    raise_for_request();
    const bool running = clock_ && ring_->is_wanted();
    const std::uint64_t due = running ? clock_->due_ns() : next_poll_ns;
    wire::futex_wait(header.doorbell, seen, std::min(due, next_poll_ns));
    now = monotonic_ns();
    if (!running || now < due) continue;
    const std::uint64_t missed_before = clock_->missed();
    clock_->advance(now);
    const std::uint64_t missed = clock_->missed() - missed_before;
    tick(due, missed, now > due + kLateNs);
    processors.tick(now, missed, processors_of_running());
  }
}

}  // namespace ringside::plugin
