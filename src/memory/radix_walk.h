#pragma once

#include <cstdint>
#include <span>

#include "memory/page_walk.h"
#include "memory/table_shape.h"

namespace ringside::memory {

// One entry, decoded.
struct PageEntry {
  enum class Kind : std::uint8_t { kNotPresent, kTable, kPage };
  Kind kind = Kind::kNotPresent;
  GuestPhys address;  // of the table, or of the page that the walked address lies in
};

// How an architecture spells its entries.
class EntryFormat {
 public:
  virtual ~EntryFormat() = default;
  // `last`: the level's entries map pages, and cannot point to tables.
  [[nodiscard]] virtual PageEntry decode(std::uint64_t entry, const RadixLevel& level, bool last,
                                         GuestVirt address) const = 0;
};

struct RadixTables {
  GuestPhys root;
  std::span<const RadixLevel> levels;  // from the root down
  std::uint8_t entry_bytes = 8;        // 4 or 8
};

[[nodiscard]] Result<PageWalk> walk_radix(PhysicalMemory& physical, const RadixTables& tables,
                                          const EntryFormat& format, GuestVirt address);

// Whether all bits from `bits` - 1 up are equal.
constexpr bool is_sign_extended(std::uint64_t address, unsigned bits) {
  const auto high = static_cast<std::int64_t>(address) >> (bits - 1);
  return high == 0 || high == -1;
}

// An address that is no address of this space: the next one is the start of the upper half.
constexpr PageWalk not_canonical(GuestVirt address, GuestVirt upper_half) {
  PageWalk walk;
  walk.bytes = upper_half - address;
  return walk;
}

// Where nothing is translated: 4 KiB from its own address.
constexpr PageWalk identity_walk(GuestVirt address) {
  constexpr std::uint64_t kPage = 4096;
  PageWalk walk;
  walk.end = WalkEnd::kMapped;
  walk.address = GuestPhys{address.value};
  walk.bytes = kPage - address.value % kPage;
  return walk;
}

}  // namespace ringside::memory
