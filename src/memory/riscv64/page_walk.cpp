#include "memory/riscv64/page_walk.h"

#include <array>

#include "memory/radix_walk.h"

namespace ringside::memory::riscv64 {
namespace {

constexpr std::uint64_t kValid = 1, kRead = 2, kWrite = 4, kExecute = 8;
constexpr std::uint64_t kNapot = std::uint64_t{1} << 63;

constexpr std::array<RadixLevel, 5> kLevels{{
    {48, 9, true},
    {39, 9, true},
    {30, 9, true},
    {21, 9, true},
    {12, 9},
}};

// Figure "Sv39 page table entry" and the algorithm of section "Virtual Address Translation
// Process".
class Format final : public EntryFormat {
 public:
  [[nodiscard]] PageEntry decode(std::uint64_t entry, const RadixLevel& level, bool last,
                                 GuestVirt address) const override {
    const std::uint64_t frame = entry >> 10 & low_bits(44);
    if ((entry & kValid) == 0 || (entry & (kRead | kWrite)) == kWrite) return {};
    if ((entry & (kRead | kExecute)) == 0) {
      if (last) return {};
      return {PageEntry::Kind::kTable, GuestPhys{frame << 12}};
    }
    if ((frame & low_bits(level.shift - 12u)) != 0) return {};  // a misaligned superpage
    if ((entry & kNapot) == 0) return {PageEntry::Kind::kPage, GuestPhys{frame << 12}};
    // Svnapot: the low bits 1000 of the frame say 64 KiB, and are the address's own.
    if (!last || (frame & 0xf) != 8) return {};
    return {PageEntry::Kind::kPage,
            GuestPhys{(frame & ~std::uint64_t{0xf}) << 12 | (address.value & 0xf000)}};
  }
};

// The number of levels by satp's MODE: table "Encoding of satp MODE field".
std::optional<unsigned> levels_of(std::uint64_t mode) {
  if (mode == 0) return 0;
  if (mode >= 8 && mode <= 10) return static_cast<unsigned>(mode - 5);
  return std::nullopt;
}

}  // namespace

std::optional<SupervisorTables> SupervisorTables::of(const arch::Registers& registers) {
  using namespace arch::riscv64;
  constexpr std::uint64_t kMachine = 3;
  if (!registers.has(kPriv)) return std::nullopt;
  if (registers.get(kPriv) == kMachine) return SupervisorTables({}, 0);
  if (!registers.has(kSatp)) return std::nullopt;
  const std::uint64_t satp = registers.get(kSatp);
  const auto levels = levels_of(satp >> 60);
  if (!levels) return std::nullopt;
  return SupervisorTables(GuestPhys{(satp & low_bits(44)) << 12}, *levels);
}

// Pages by Svnapot, which Linux has for large mappings that were asked for, are taken for none.
std::optional<TableShape> SupervisorTables::lower_half() const {
  if (levels_ == 0) return std::nullopt;
  const auto levels = std::span(kLevels).last(levels_);
  TableShape shape;
  shape.address_bits = 12 + 9 * levels_ - 1;
  shape.levels.assign(levels.begin(), levels.end());
  shape.present = {kNapot | kValid, kValid};
  shape.table = {kRead | kExecute, 0};
  shape.address[0] = {low_bits(44) << 10, 2};
  return shape;
}

Result<PageWalk> SupervisorTables::walk(PhysicalMemory& physical, GuestVirt address) const {
  if (levels_ == 0) return identity_walk(address);
  const unsigned bits = 12 + 9 * levels_;
  if (!is_sign_extended(address.value, bits))
    return not_canonical(address, GuestVirt{~std::uint64_t{0} << (bits - 1)});
  RadixTables tables;
  tables.root = root_;
  tables.levels = std::span(kLevels).last(levels_);
  return walk_radix(physical, tables, Format(), address);
}

}  // namespace ringside::memory::riscv64
