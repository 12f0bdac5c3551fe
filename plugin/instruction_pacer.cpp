#include "plugin/instruction_pacer.h"

#include <algorithm>

#include "base/clock.h"
#include "wire/futex.h"

namespace ringside::plugin {
namespace {

// A counter is set this far below the limit less what is to be executed until the next poll.
constexpr std::uint64_t kLimit = std::uint64_t{1} << 62;
constexpr std::uint64_t kPollForStart = 100'000;  // instructions
constexpr std::uint64_t kPatienceNs = 10'000'000'000;
constexpr std::uint64_t kPollNs = 20'000'000;

void call_on_block(unsigned vcpu, void* pacer) { static_cast<Pacer*>(pacer)->on_block(vcpu); }

}  // namespace

InstructionPacer::InstructionPacer(SharedRing& ring, VcpuState* vcpus, bool wait)
    : ring_(&ring),
      vcpus_(vcpus),
      counter_{qemu_plugin_scoreboard_new(sizeof(std::uint64_t)), 0},
      wait_(wait) {}

void InstructionPacer::instrument(qemu_plugin_tb* block) {
  qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(block, QEMU_PLUGIN_INLINE_ADD_U64, counter_,
                                                    qemu_plugin_tb_n_insns(block));
  qemu_plugin_register_vcpu_tb_exec_cond_cb(block, call_on_block, QEMU_PLUGIN_CB_R_REGS,
                                            QEMU_PLUGIN_COND_GE, counter_, kLimit, this);
}

void InstructionPacer::set_counter(unsigned n, std::uint64_t instructions) {
  vcpus_[n].counter = kLimit - std::max<std::uint64_t>(instructions, 1);
  qemu_plugin_u64_set(counter_, n, vcpus_[n].counter);
}

void InstructionPacer::on_start(unsigned n) { set_counter(n, 1); }

void InstructionPacer::wait_for_start(VcpuState& state) {
  const wire::RingHeader& header = ring_->header();
  const std::uint64_t give_up_ns = monotonic_ns() + kPatienceNs;
  bool seen_reader = false;
  const wire::RingSource& clock = ring_->source(wire::SourceId::kClock);
  while (clock.enabled.load(std::memory_order_acquire) == 0 &&
         header.one_thread.load(std::memory_order_relaxed) == 0) {
    const std::uint32_t seen = header.doorbell.load(std::memory_order_acquire);
    (void)state.vcpu.serve();
    const bool is_there = ring_->reader_is_there();
    const std::uint64_t now = monotonic_ns();
    if ((seen_reader && !is_there) || (!seen_reader && now > give_up_ns)) return;
    seen_reader = is_there;
    wire::futex_wait(header.doorbell, seen, now + kPollNs);
  }
}

void InstructionPacer::on_block(unsigned n) {
  if (!is_its_thread(*ring_, vcpus_, n)) return;
  VcpuState& state = vcpus_[n];
  wire::RingHeader& header = ring_->header();
  if (wait_.exchange(false, std::memory_order_relaxed)) wait_for_start(state);
  state.executed += qemu_plugin_u64_get(counter_, n) - state.counter;
  const std::uint32_t start = header.start.load(std::memory_order_acquire);
  if (start != state.started) {
    state.clock.emplace(state.executed, header.interval.load(std::memory_order_relaxed),
                        header.jitter.load(std::memory_order_relaxed) != 0,
                        header.seed.load(std::memory_order_relaxed) + n);
    state.started = start;
    header.started.store(start, std::memory_order_release);
  }
  const bool running = state.clock && ring_->is_wanted();
  if (running && state.executed >= state.clock->due_ns()) {
    const std::uint64_t missed = state.clock->missed();
    state.clock->advance(state.executed);
    const std::uint64_t ticks = 1 + state.clock->missed() - missed;
    ring_->count(n, wire::RingCounter::kDueTicks, ticks);
    state.vcpu.sample(ticks);
  }
  (void)state.vcpu.serve();
  set_counter(n, running ? state.clock->due_ns() - std::min(state.executed, state.clock->due_ns())
                         : kPollForStart);
}

}  // namespace ringside::plugin
