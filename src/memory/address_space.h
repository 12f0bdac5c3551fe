#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>

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
  [[nodiscard]] Result<PageWalk> walk(GuestVirt address);
  // Pages at this distance from their physical address are in the kernel's map of all RAM, which
  // does not change: they are walked to once.
  void set_linear_distance(std::uint64_t distance) {
    if (linear_distance_ != distance) linear_blocks_.clear();
    linear_distance_ = distance;
  }
  // Page tables are read once: forget them when the guest may have changed them.
  void forget_tables() { table_pages_.forget(); }

 private:
  const PageTables* tables_;
  PhysicalMemory* physical_;
  PageCache<GuestPhys> table_pages_;
  std::optional<std::uint64_t> linear_distance_;
  std::unordered_set<std::uint64_t> linear_blocks_;  // numbers of those that have such a page
};

}  // namespace ringside::memory
