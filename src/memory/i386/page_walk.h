#pragma once

#include "arch/registers.h"
#include "memory/page_walk.h"

namespace ringside::memory::i386 {

// 32-bit and PAE paging (Intel SDM, volume 3A, sections 4.3 and 4.4): pages of 4 KiB, and of 4 MiB
// (PSE, with PSE-36) or 2 MiB (PAE).
class ProtectedModeTables final : public PageTables {
 public:
  // `cr3` and `cr4` as the processor holds them. With PAE the four entries that CR3 points to are
  // read from memory; a processor keeps copies of them.
  ProtectedModeTables(std::uint64_t cr3, std::uint64_t cr4) : cr3_(cr3), cr4_(cr4) {}

  // The tables that a vCPU uses (registers by i386's numbers); nothing where paging is off, or
  // where CR0, CR3 or CR4 was not read.
  [[nodiscard]] static std::optional<ProtectedModeTables> of(const arch::Registers& registers);

  [[nodiscard]] Result<PageWalk> walk(PhysicalMemory& physical, GuestVirt address) const override;

 private:
  std::uint64_t cr3_;
  std::uint64_t cr4_;
};

}  // namespace ringside::memory::i386
