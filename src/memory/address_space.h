#pragma once

#include "memory/page_cache.h"
#include "memory/page_walk.h"

namespace ringside::memory {

// Virtual memory as page tables map it onto physical memory. Both must outlive it. Reads of any
// length; they end at the first page that is not mapped, or not in RAM.
class AddressSpace final : public VirtualMemory {
 public:
  AddressSpace(const PageTables& tables, PhysicalMemory& physical)
      : tables_(&tables), physical_(&physical), table_pages_(physical) {}

  [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt address,
                                               std::span<std::byte> destination) override;
  [[nodiscard]] Result<PageWalk> walk(GuestVirt address) {
    return tables_->walk(table_pages_, address);
  }
  // Page tables are read once: forget them when the guest may have changed them.
  void forget_tables() { table_pages_.forget(); }

 private:
  const PageTables* tables_;
  PhysicalMemory* physical_;
  PageCache<GuestPhys> table_pages_;
};

}  // namespace ringside::memory
