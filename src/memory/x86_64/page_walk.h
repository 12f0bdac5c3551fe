#pragma once

#include "arch/registers.h"
#include "memory/page_walk.h"

namespace ringside::memory::x86_64 {

// 4-level and 5-level paging (Intel SDM, volume 3A, section 4.5): pages of 4 KiB, 2 MiB and 1 GiB.
class LongModeTables final : public PageTables {
 public:
  // `root`: CR3; its PCID and flags are masked. `five_levels`: CR4.LA57.
  LongModeTables(std::uint64_t root, bool five_levels);

  // The tables that a vCPU uses; nothing where it is not in long mode with paging on, or where
  // CR0, CR3, CR4 or EFER was not read.
  [[nodiscard]] static std::optional<LongModeTables> of(const arch::Registers& registers);

  [[nodiscard]] GuestPhys root() const { return root_; }
  [[nodiscard]] bool five_levels() const { return five_levels_; }
  [[nodiscard]] Result<PageWalk> walk(PhysicalMemory& physical, GuestVirt address) const override;
  [[nodiscard]] std::optional<TableShape> lower_half() const override;

 private:
  GuestPhys root_;
  bool five_levels_;
};

}  // namespace ringside::memory::x86_64
