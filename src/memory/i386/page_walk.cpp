#include "memory/i386/page_walk.h"

#include <array>

#include "memory/x86_entry.h"

namespace ringside::memory::i386 {
namespace {

constexpr std::uint64_t kPse = 1u << 4;
constexpr std::uint64_t kPae = 1u << 5;
constexpr std::array<RadixLevel, 2> k32Bit{{{22, 10}, {12, 10}}};
constexpr std::array<RadixLevel, 2> k32BitPse{{{22, 10, true}, {12, 10}}};
constexpr std::array<RadixLevel, 3> kPaeLevels{{{30, 2}, {21, 9, true}, {12, 9}}};

}  // namespace

std::optional<ProtectedModeTables> ProtectedModeTables::of(const arch::Registers& registers) {
  using namespace arch::i386;
  constexpr std::uint64_t kPaging = std::uint64_t{1} << 31;
  for (const std::uint8_t needed : {kCr0, kCr3, kCr4})
    if (!registers.has(needed)) return std::nullopt;
  if ((registers.get(kCr0) & kPaging) == 0) return std::nullopt;
  return ProtectedModeTables(registers.get(kCr3), registers.get(kCr4));
}

Result<PageWalk> ProtectedModeTables::walk(PhysicalMemory& physical, GuestVirt address) const {
  if (address.value >> 32 != 0) return PageWalk{};
  RadixTables tables;
  if ((cr4_ & kPae) != 0) {
    tables.root = GuestPhys{cr3_ & 0xffff'ffe0};
    tables.levels = kPaeLevels;
    return walk_radix(physical, tables, X86EntryFormat(0x000f'ffff'ffff'f000), address);
  }
  tables.root = GuestPhys{cr3_ & 0xffff'f000};
  tables.levels = (cr4_ & kPse) != 0 ? k32BitPse : k32Bit;
  tables.entry_bytes = 4;
  return walk_radix(physical, tables, X86EntryFormat(0xffff'f000, true), address);
}

}  // namespace ringside::memory::i386
