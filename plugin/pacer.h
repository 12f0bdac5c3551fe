#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "plugin/qemu_api.h"
#include "plugin/stolen_time.h"
#include "plugin/vcpu.h"

namespace ringside::plugin {

// A vCPU, and what is due for it.
struct VcpuState {
  Vcpu vcpu;
  std::atomic<bool> online{false};
  pthread_t thread{};
  // By host time: ticks that were due while it ran and that no sample was taken for yet.
  std::atomic<std::uint64_t> ticks{0};
  ThreadClocks clocks;  // its thread's
  StolenTime stolen{clocks};
  std::atomic<int> processor{-1};  // where its thread ran at the last tick that it heard of
  std::atomic<bool> idle{false};
  // By instructions.
  std::uint64_t executed = 0;  // up to when the counter was set last
  std::uint64_t counter = 0;   // what it was set to
  std::uint32_t started = 0;   // which of ringside's starts `clock` belongs to
  std::optional<wire::SampleClock> clock;
};

// A way to decide when samples are due. A block's check is inline; the callbacks come when it is
// true.
class Pacer {
 public:
  virtual ~Pacer() = default;
  // In the vCPU's thread. False where `vcpu` is not whose thread it is. QEMU 10.0 keeps the number
  // in the translated code where it did not translate for several threads, and so gives that of
  // another vCPU, or one that is none (gen_udata_cond_cb multiplies it by the size of a
  // scoreboard's entry).
  [[nodiscard]] static bool is_its_thread(const SharedRing& ring, const VcpuState* vcpus,
                                          unsigned vcpu) {
    return vcpu < ring.vcpus() && vcpus[vcpu].online.load(std::memory_order_acquire) &&
           ::pthread_equal(::pthread_self(), vcpus[vcpu].thread) != 0;
  }
  // Adds the check to a block that is being translated.
  virtual void instrument(qemu_plugin_tb* block) = 0;
  // In the vCPU's thread:
  virtual void on_start(unsigned vcpu) = 0;
  virtual void on_block(unsigned vcpu) = 0;  // the check was true
  virtual void on_idle(unsigned vcpu) = 0;
  virtual void on_resume(unsigned vcpu) = 0;
};

}  // namespace ringside::plugin
