#pragma once

#include <sched.h>

#include <memory>

#include "plugin/pacer.h"

namespace ringside::plugin {

// Samples by the host's clock. A thread of its own raises a flag for each vCPU that runs; the next
// block with a check that the vCPU begins takes the sample. Blocks that end in a conditional jump
// forward have none, because checks are dear (bench/overhead) and what follows such a block is in
// the same function. So the skid of a sample is the rest of the block that ran when the tick was
// due, and blocks without a check behind it. It needs QEMU to report when a vCPU sleeps, which it
// does where each has a thread of its own.
//
// QEMU moves its table of flags when it gets its 17th vCPU, 33rd, 65th …: one that is plugged in
// while samples are taken may make a tick of that moment go astray.
//
// A tick is lost where the host has kept the vCPU's thread waiting about then: the guest has not
// used that time, and what it does first when it runs again, most often its timer interrupt, is not
// what it was doing.
class HostTimePacer final : public Pacer {
 public:
  // Both must outlive it; `vcpus` has ring.vcpus() elements.
  HostTimePacer(SharedRing& ring, VcpuState* vcpus, Arch arch);

  void instrument(qemu_plugin_tb* block) override;
  void on_start(unsigned vcpu) override;
  void on_block(unsigned vcpu) override;
  void on_idle(unsigned vcpu) override;
  void on_resume(unsigned vcpu) override;

 private:
  [[noreturn]] void run();
  void start_anew(std::uint64_t now_ns);
  void tick(std::uint64_t due_ns, std::uint64_t lost, bool is_late);
  void raise_for_request();
  [[nodiscard]] cpu_set_t processors_of_running() const;
  // Ticks of a vCPU that was not running when they should have been taken.
  void count_as_idle(unsigned vcpu);

  SharedRing* ring_;
  VcpuState* vcpus_;
  Arch arch_;
  qemu_plugin_u64 flag_;
  std::atomic_flag has_thread_;
  std::optional<wire::SampleClock> clock_;
  // Ticks come so fast that each vCPU looks after its own waits, from tick to tick.
  std::atomic<bool> is_dense_{false};
};

}  // namespace ringside::plugin
