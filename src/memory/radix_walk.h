#pragma once

#include <cstdint>
#include <span>

#include "memory/page_walk.h"

namespace ringside::memory {

// One level of page tables as x86 has them: which bits of the address choose the entry, and whether
// an entry may map a page of its own instead of pointing to a table.
struct RadixLevel {
  std::uint8_t shift;        // of the lowest bit that chooses the entry
  std::uint8_t index_bits;   // how many
  bool may_be_page = false;  // bit 7 of an entry (PS) says so
};

struct RadixTables {
  GuestPhys root;
  std::span<const RadixLevel> levels;  // from the root down; the last one maps pages
  std::uint8_t entry_bytes = 8;        // 4 or 8
  std::uint64_t address_mask = 0;      // of an entry: the table's or the smallest page's address
  bool pse36 = false;                  // 4 MiB pages keep bits 39:32 of their address in 20:13
};

[[nodiscard]] Result<PageWalk> walk_radix(PhysicalMemory& physical, const RadixTables& tables,
                                          GuestVirt address);

}  // namespace ringside::memory
