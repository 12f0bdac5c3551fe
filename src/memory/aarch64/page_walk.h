#pragma once

#include "arch/registers.h"
#include "memory/page_walk.h"

namespace ringside::memory::aarch64 {

// The EL1&0 translation regime, stage 1 (Arm Architecture Reference Manual for A-profile, chapter
// D8): granules of 4, 16 and 64 KiB, blocks, 52-bit addresses (FEAT_LPA, FEAT_LVA, FEAT_LPA2).
// Which features the processor has is taken from what its TCR_EL1 says. Stage 2 (a guest of the
// guest) is not followed.
class StageOneTables final : public PageTables {
 public:
  struct Roots {
    std::uint64_t ttbr0 = 0;
    std::uint64_t ttbr1 = 0;
    std::uint64_t tcr = 0;
    bool translates = true;  // SCTLR_EL1.M
  };
  explicit StageOneTables(const Roots& roots) : roots_(roots) {}

  // The tables of a vCPU in EL0 or EL1; nothing in EL2 and EL3, in AArch32's EL1, and where CPSR,
  // TTBR0_EL1, TTBR1_EL1 or TCR_EL1 was not read. With the MMU off each address is its own physical
  // one.
  [[nodiscard]] static std::optional<StageOneTables> of(const arch::Registers& registers);

  [[nodiscard]] const Roots& roots() const { return roots_; }
  [[nodiscard]] Result<PageWalk> walk(PhysicalMemory& physical, GuestVirt address) const override;
  [[nodiscard]] std::optional<TableShape> lower_half() const override;

 private:
  Roots roots_;
};

// Bytes of the smallest page in the upper half of the addresses; 0 where TCR_EL1.TG1 says nothing
// known.
[[nodiscard]] std::uint64_t upper_granule(std::uint64_t tcr);

}  // namespace ringside::memory::aarch64
