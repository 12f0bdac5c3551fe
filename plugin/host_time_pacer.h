#pragma once

#include <memory>

#include "plugin/pacer.h"

namespace ringside::plugin {

// Samples by the host's clock. At each tick a timer interrupts the vCPU's thread, which raises a
// flag of its own; the next block with a check that the vCPU begins takes the sample. Blocks that
// end in a conditional jump forward have none, because checks are dear (bench/overhead) and what
// follows such a block is in the same function. So the skid of a sample is the rest of the block
// that ran when the tick was due, and blocks without a check behind it. It needs QEMU to tell when
// a vCPU sleeps, which it does where each has a thread of its own.
//
// QEMU moves its table of flags when it gets its 17th vCPU, 33rd, 65th …: one that is plugged in
// while samples are taken may make a tick of that moment go astray.
//
// Ticks are due in the thread's own time (StolenTime); what the host has not run it counts as lost
// ticks. A tick is lost, too, where the thread has waited about then, and where the one before has
// no sample yet: that one has it, and stands for one tick.
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
  // In the vCPU's thread, which the timer has interrupted.
  void on_tick(unsigned vcpu);
  void start_anew(unsigned vcpu);
  void take_ticks(unsigned vcpu);
  // The timer's next tick is to come, where samples are wanted.
  void set_timer(unsigned vcpu);

  [[noreturn]] void run();
  void raise_for_request();
  // Ticks of a vCPU that was not running when they should have been taken.
  void count_as_idle(unsigned vcpu);

  SharedRing* ring_;
  VcpuState* vcpus_;
  Arch arch_;
  qemu_plugin_u64 flag_;
  std::atomic_flag has_thread_;
};

}  // namespace ringside::plugin
