#include "memory/radix_walk.h"

namespace ringside::memory {
namespace {

constexpr std::uint64_t kPresent = 1;
constexpr std::uint64_t kPageSize = 1u << 7;

std::uint64_t low_bits(unsigned count) { return (std::uint64_t{1} << count) - 1; }

// An entry; nothing where it lies outside of RAM.
Result<std::optional<std::uint64_t>> read_entry(PhysicalMemory& physical, GuestPhys at,
                                                std::uint8_t size) {
  std::array<std::byte, 8> bytes{};
  RINGSIDE_ASSIGN(const std::size_t got, physical.read_up_to(at, std::span(bytes).first(size)));
  if (got < size) return std::nullopt;
  std::uint64_t entry = 0;
  std::memcpy(&entry, bytes.data(), sizeof(entry));
  return entry;
}

// Intel SDM, volume 3A, table 4-4: a 4 MiB page's bits 39:32 are in bits 20:13 of the entry.
std::uint64_t page_address(const RadixTables& tables, std::uint64_t entry, unsigned shift) {
  std::uint64_t address = entry & tables.address_mask & ~low_bits(shift);
  if (tables.pse36 && shift == 22) address |= (entry >> 13 & 0xff) << 32;
  return address;
}

}  // namespace

Result<PageWalk> walk_radix(PhysicalMemory& physical, const RadixTables& tables,
                            GuestVirt address) {
  PageWalk walk;
  GuestPhys table = tables.root;
  for (std::size_t i = 0; i < tables.levels.size(); ++i) {
    const RadixLevel& level = tables.levels[i];
    const std::uint64_t index = address.value >> level.shift & low_bits(level.index_bits);
    const std::uint64_t offset = address.value & low_bits(level.shift);
    walk.level = static_cast<std::uint8_t>(tables.levels.size() - i);
    walk.entry = table + index * tables.entry_bytes;
    walk.bytes = low_bits(level.shift) + 1 - offset;
    RINGSIDE_ASSIGN(const auto entry, read_entry(physical, walk.entry, tables.entry_bytes));
    walk.end = !entry ? WalkEnd::kUnreadable : WalkEnd::kNotPresent;
    if (!entry || (*entry & kPresent) == 0) return walk;
    const bool last = i + 1 == tables.levels.size();
    if (last || (level.may_be_page && (*entry & kPageSize) != 0)) {
      walk.end = WalkEnd::kMapped;
      walk.address = GuestPhys{page_address(tables, *entry, level.shift) + offset};
      return walk;
    }
    table = GuestPhys{*entry & tables.address_mask};
  }
  return walk;
}

}  // namespace ringside::memory
