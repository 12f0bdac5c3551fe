#include "memory/radix_walk.h"

#include "base/little_endian.h"

namespace ringside::memory {
namespace {

// An entry; nothing where it lies outside of RAM.
Result<std::optional<std::uint64_t>> read_entry(PhysicalMemory& physical, GuestPhys at,
                                                std::uint8_t size) {
  std::array<std::byte, 8> bytes{};
  RINGSIDE_ASSIGN(const std::size_t got, physical.read_up_to(at, std::span(bytes).first(size)));
  if (got < size) return std::nullopt;
  return load<std::uint64_t>(bytes);
}

}  // namespace

Result<PageWalk> walk_radix(PhysicalMemory& physical, const RadixTables& tables,
                            const EntryFormat& format, GuestVirt address) {
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
    walk.end = entry ? WalkEnd::kNotPresent : WalkEnd::kUnreadable;
    if (!entry) return walk;
    const bool last = i + 1 == tables.levels.size();
    const PageEntry said = format.decode(*entry, level, last, address);
    if (said.kind == PageEntry::Kind::kNotPresent) return walk;
    if (said.kind == PageEntry::Kind::kPage) {
      walk.end = WalkEnd::kMapped;
      walk.address = said.address + offset;
      return walk;
    }
    table = said.address;
  }
  return walk;
}

}  // namespace ringside::memory
