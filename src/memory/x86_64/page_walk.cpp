#include "memory/x86_64/page_walk.h"

#include <array>

#include "memory/radix_walk.h"

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

bool is_canonical(GuestVirt address, unsigned bits) {
  const auto high = static_cast<std::int64_t>(address.value) >> (bits - 1);
  return high == 0 || high == -1;
}

}  // namespace

LongModeTables::LongModeTables(std::uint64_t root, bool five_levels)
    : root_{root & kAddressMask}, five_levels_(five_levels) {}

std::optional<LongModeTables> LongModeTables::of(const wire::Registers& registers) {
  using namespace wire::x86_64;
  constexpr std::uint64_t kPaging = std::uint64_t{1} << 31;
  constexpr std::uint64_t kLa57 = 1u << 12;
  constexpr std::uint64_t kLongModeActive = 1u << 10;
  for (const std::uint8_t needed : {kCr0, kCr3, kCr4, kEfer})
    if (!registers.has(needed)) return std::nullopt;
  if ((registers.get(kCr0) & kPaging) == 0 || (registers.get(kEfer) & kLongModeActive) == 0)
    return std::nullopt;
  return LongModeTables(registers.get(kCr3), (registers.get(kCr4) & kLa57) != 0);
}

Result<PageWalk> LongModeTables::walk(PhysicalMemory& physical, GuestVirt address) const {
  const unsigned bits = five_levels_ ? 57 : 48;
  if (!is_canonical(address, bits)) {
    PageWalk walk;
    walk.bytes = (~std::uint64_t{0} << (bits - 1)) - address.value;
    return walk;
  }
  RadixTables tables;
  tables.root = root_;
  tables.levels = std::span(kLevels).subspan(five_levels_ ? 0 : 1);
  tables.address_mask = kAddressMask;
  return walk_radix(physical, tables, address);
}

}  // namespace ringside::memory::x86_64
