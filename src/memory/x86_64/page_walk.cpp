#include "memory/x86_64/page_walk.h"

#include <array>

#include "memory/x86_entry.h"

namespace ringside::memory::x86_64 {
namespace {

// Bits 51:12: physical addresses have at most 52 bits. Bits above the processor's own width are
// reserved and 0.
constexpr std::uint64_t kAddressMask = 0x000f'ffff'ffff'f000;

constexpr std::array<RadixLevel, 5> kLevels{{
    {48, 9},        // PML5E
    {39, 9},        // PML4E
    {30, 9, true},  // PDPTE
    {21, 9, true},  // PDE
    {12, 9},        // PTE
}};

}  // namespace

LongModeTables::LongModeTables(std::uint64_t root, bool five_levels)
    : root_{root & kAddressMask}, five_levels_(five_levels) {}

std::optional<LongModeTables> LongModeTables::of(const arch::Registers& registers) {
  using namespace arch::x86_64;
  constexpr std::uint64_t kPaging = std::uint64_t{1} << 31;
  constexpr std::uint64_t kLa57 = 1u << 12;
  constexpr std::uint64_t kLongModeActive = 1u << 10;
  for (const std::uint8_t needed : {kCr0, kCr3, kCr4, kEfer})
    if (!registers.has(needed)) return std::nullopt;
  if ((registers.get(kCr0) & kPaging) == 0 || (registers.get(kEfer) & kLongModeActive) == 0)
    return std::nullopt;
  return LongModeTables(registers.get(kCr3), (registers.get(kCr4) & kLa57) != 0);
}

std::optional<TableShape> LongModeTables::lower_half() const {
  constexpr std::uint64_t kPresent = 1, kPageSize = 1u << 7;
  const auto levels = std::span(kLevels).subspan(five_levels_ ? 0 : 1);
  TableShape shape;
  shape.address_bits = five_levels_ ? 56 : 47;
  shape.levels.assign(levels.begin(), levels.end());
  shape.present = {kPresent, kPresent};
  shape.table = {kPageSize, 0};
  shape.address[0] = {kAddressMask, 0};
  return shape;
}

Result<PageWalk> LongModeTables::walk(PhysicalMemory& physical, GuestVirt address) const {
  const unsigned bits = five_levels_ ? 57 : 48;
  if (!is_sign_extended(address.value, bits))
    return not_canonical(address, GuestVirt{~std::uint64_t{0} << (bits - 1)});
  RadixTables tables;
  tables.root = root_;
  tables.levels = std::span(kLevels).subspan(five_levels_ ? 0 : 1);
  return walk_radix(physical, tables, X86EntryFormat(kAddressMask), address);
}

}  // namespace ringside::memory::x86_64
