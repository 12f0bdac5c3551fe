#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/types.h"

namespace ringside::engines::qmp {

// Detects a halted vCPU where the monitor does not: on aarch64 and riscv64 its pc is behind the
// instruction that waits for an interrupt, or that calls the firmware to be turned off; before it
// was turned on, an aarch64 vCPU of the machine virt stands at 0. That a vCPU which has woken up is
// met at that very pc is rare: it has run one block of code since. Answers are kept by pc.
class WaitInstructions {
 public:
  // Bytes before the pc.
  static constexpr std::uint32_t kSize = 4;

  [[nodiscard]] static bool has(Arch arch) {
    return arch == Arch::kAArch64 || arch == Arch::kRiscv64;
  }
  // Nothing where it has not been learnt.
  [[nodiscard]] std::optional<bool> is_behind(GuestVirt pc) const {
    const auto known = known_.find(pc);
    return known == known_.end() ? std::nullopt : std::optional(known->second);
  }
  // `before`: the instruction in front of it, nothing where it cannot be read.
  bool learn(Arch arch, GuestVirt pc, std::optional<std::uint64_t> before) {
    if (known_.size() >= kMost) known_.clear();
    const bool is_off = arch == Arch::kAArch64 && pc.value == 0;
    return known_[pc] = is_off || (before && waits(arch, *before));
  }

 private:
  // Arm Architecture Reference Manual, C6.2: WFI; HVC #0 and SMC #0, by which PSCI (Arm DEN 0022)
  // is called. The RISC-V Instruction Set Manual, volume II, 3.3.3: WFI.
  [[nodiscard]] static bool waits(Arch arch, std::uint64_t instruction) {
    if (arch == Arch::kRiscv64) return instruction == 0x10500073;
    return instruction == 0xd503207f || instruction == 0xd4000002 || instruction == 0xd4000003;
  }

  static constexpr std::size_t kMost = 1 << 14;
  std::unordered_map<GuestVirt, bool> known_;
};

}  // namespace ringside::engines::qmp
