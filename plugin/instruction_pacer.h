#pragma once

#include "plugin/pacer.h"

namespace ringside::plugin {

// Samples by the guest instructions that a vCPU has executed. A block's instructions are counted
// before it runs, and the block that crosses the period is the one that is sampled.
class InstructionPacer final : public Pacer {
 public:
  // `wait`: before its first instruction the guest waits until ringside starts the sampling.
  InstructionPacer(SharedRing& ring, VcpuState* vcpus, bool wait);

  void instrument(qemu_plugin_tb* block) override;
  void on_start(unsigned vcpu) override;
  void on_block(unsigned vcpu) override;
  void on_idle(unsigned) override {}
  void on_resume(unsigned) override {}

 private:
  void wait_for_start(VcpuState& state);
  void set_counter(unsigned vcpu, std::uint64_t instructions);

  SharedRing* ring_;
  VcpuState* vcpus_;
  qemu_plugin_u64 counter_;
  std::atomic<bool> wait_;
};

}  // namespace ringside::plugin
