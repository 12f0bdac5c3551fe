#pragma once

#include "arch/registers.h"
#include "memory/page_walk.h"

namespace ringside::memory::riscv64 {

// Sv39, Sv48 and Sv57 (The RISC-V Instruction Set Manual, volume II, chapter "Supervisor-Level
// ISA"): pages of 4 KiB to 256 TiB, and of 64 KiB by Svnapot. Two-stage translation (a guest of the
// guest) is not followed.
class SupervisorTables final : public PageTables {
 public:
  // The tables of a vCPU; nothing where `satp` or `priv` was not read, or the mode in satp is not
  // known. In machine mode and in mode "Bare" each address is its own physical one.
  [[nodiscard]] static std::optional<SupervisorTables> of(const arch::Registers& registers);

  [[nodiscard]] GuestPhys root() const { return root_; }
  // 3, 4 or 5; 0 where nothing is translated.
  [[nodiscard]] unsigned levels() const { return levels_; }
  [[nodiscard]] Result<PageWalk> walk(PhysicalMemory& physical, GuestVirt address) const override;
  [[nodiscard]] std::optional<TableShape> lower_half() const override;

 private:
  SupervisorTables(GuestPhys root, unsigned levels) : root_(root), levels_(levels) {}

  GuestPhys root_;
  unsigned levels_;
};

}  // namespace ringside::memory::riscv64
