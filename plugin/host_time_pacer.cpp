#include "plugin/host_time_pacer.h"

#include <sys/prctl.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "plugin/block_end.h"
#include "plugin/last_instruction.h"
#include "plugin/own_thread.h"
#include "wire/futex.h"

namespace ringside::plugin {
namespace {

constexpr std::uint64_t kLookAfterReaderNs = 500'000'000;
constexpr std::uint64_t kNotOnlineYetNs = 1'000'000;
// So long before a tick the vCPU's thread is interrupted, too. Where it is to give its processor to
// another thread the host does that at an interrupt, and not at the tick's, then.
constexpr std::uint64_t kLookBackNs = 100'000;

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
  const auto on_tick = [](void* self, unsigned vcpu) {
    static_cast<HostTimePacer*>(self)->on_tick(vcpu);
  };
  vcpus_[n].stolen.begin(wire::HostWait("/proc/thread-self/schedstat"));
  if (vcpus_[n].timer.begin(on_tick, this, n)) set_timer(n);
  // Not before the first vCPU: by then QEMU has become a daemon, if it is to be one.
  if (has_thread_.test_and_set()) return;
  start_own_thread([](void* self) { static_cast<HostTimePacer*>(self)->run(); }, this);
}

void HostTimePacer::set_timer(unsigned n) {
  VcpuState& state = vcpus_[n];
  if (ring_->is_wanted() && !state.is_set.exchange(true)) state.timer.set(monotonic_ns());
}

void HostTimePacer::on_tick(unsigned n) {
  VcpuState& state = vcpus_[n];
  const std::uint64_t now = monotonic_ns();
  if (!ring_->is_wanted()) {
    state.is_set.store(false);
    set_timer(n);  // sampling may have been started just now
    return;
  }
  if (!is_its_thread(*ring_, vcpus_, n)) return state.timer.set(now + kNotOnlineYetNs);
  state.stolen.look(now, clock_ns(CLOCK_THREAD_CPUTIME_ID));
  start_anew(n);
  take_ticks(n);
  const std::uint64_t left =
      state.clock->due_ns() - std::min(state.stolen.own_ns(), state.clock->due_ns());
  state.timer.set(now + (left > 2 * kLookBackNs ? left - kLookBackNs : left));
}

void HostTimePacer::start_anew(unsigned n) {
  wire::RingHeader& header = ring_->header();
  VcpuState& state = vcpus_[n];
  const std::uint32_t start = header.start.load(std::memory_order_acquire);
  if (start == state.started && state.clock) return;
  state.started = start;
  state.interval = std::max<std::uint64_t>(header.interval.load(std::memory_order_relaxed), 1);
  state.clock.emplace(state.stolen.own_ns(), state.interval,
                      header.jitter.load(std::memory_order_relaxed) != 0,
                      header.seed.load(std::memory_order_relaxed) + n);
  (void)state.stolen.take_intervals(state.interval);  // that were before
  header.started.store(start, std::memory_order_release);
}

void HostTimePacer::take_ticks(unsigned n) {
  VcpuState& state = vcpus_[n];
  wire::RingVcpu& shared = ring_->vcpu(n);
  std::uint64_t stolen = state.stolen.take_intervals(state.interval);
  std::uint64_t ticks = 0;
  if (state.stolen.own_ns() >= state.clock->due_ns()) {
    const std::uint64_t missed = state.clock->missed();
    state.clock->advance(state.stolen.own_ns());
    ticks = 1 + state.clock->missed() - missed;
  }
  shared.due_ticks.fetch_add(stolen + ticks, std::memory_order_relaxed);
  if (state.idle.load(std::memory_order_relaxed)) {
    shared.idle_ticks.fetch_add(ticks, std::memory_order_relaxed);
  } else if (state.stolen.has_waited()) {
    stolen += ticks;
  } else if (ticks != 0) {
    state.ticks.fetch_add(ticks, std::memory_order_relaxed);
    qemu_plugin_u64_set(flag_, n, 1);
  }
  if (stolen != 0) shared.stolen_ticks.fetch_add(stolen, std::memory_order_relaxed);
}

void HostTimePacer::on_block(unsigned n) {
  if (!is_its_thread(*ring_, vcpus_, n)) return;
  // In this order: a tick that comes between the two raises the flag again.
  qemu_plugin_u64_set(flag_, n, 0);
  VcpuState& state = vcpus_[n];
  if (const std::uint64_t ticks = state.ticks.exchange(0, std::memory_order_relaxed)) {
    ring_->vcpu(n).delayed_ticks.fetch_add(ticks - 1, std::memory_order_relaxed);
    state.vcpu.sample(1);
  }
  if (state.vcpu.serve()) qemu_plugin_u64_set(flag_, n, 1);
}

void HostTimePacer::count_as_idle(unsigned n) {
  qemu_plugin_u64_set(flag_, n, 0);
  if (const std::uint64_t ticks = vcpus_[n].ticks.exchange(0, std::memory_order_relaxed))
    ring_->vcpu(n).idle_ticks.fetch_add(ticks, std::memory_order_relaxed);
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

void HostTimePacer::raise_for_request() {
  const wire::RingHeader& header = ring_->header();
  const std::uint32_t number = header.requested.load(std::memory_order_acquire);
  if (number == header.answered.load(std::memory_order_acquire)) return;
  const unsigned n = header.request_vcpu.load(std::memory_order_relaxed);
  if (n < ring_->vcpus() && vcpus_[n].online.load(std::memory_order_acquire))
    qemu_plugin_u64_set(flag_, n, 1);
}

// Heeds ringside, which rings the doorbell.
void HostTimePacer::run() {
  ::prctl(PR_SET_NAME, "ringside", 0UL, 0UL, 0UL);
  const wire::RingHeader& header = ring_->header();
  std::uint64_t next_look_ns = 0;  // after the reader
  while (true) {
    const std::uint32_t seen = header.doorbell.load(std::memory_order_acquire);
    const std::uint64_t now = monotonic_ns();
    if (now >= next_look_ns) {
      next_look_ns = now + kLookAfterReaderNs;
      if (!ring_->reader_is_there()) ring_->abandon();
    }
    for (unsigned n = 0; n < ring_->vcpus(); ++n)
      if (vcpus_[n].online.load(std::memory_order_acquire)) set_timer(n);
    raise_for_request();
    wire::futex_wait(header.doorbell, seen, next_look_ns);
  }
}

}  // namespace ringside::plugin
