#include "memory/riscv64/page_walk.h"

#include <array>

#include "arch/riscv64_tables.h"
#include "memory/radix_walk.h"

namespace ringside::memory::riscv64 {
namespace {

using arch::riscv64::TableEntry;

constexpr std::array<RadixLevel, 5> kLevels{{
    {48, 9, true},
    {39, 9, true},
    {30, 9, true},
    {21, 9, true},
    {12, 9},
}};

class Format final : public EntryFormat {
 public:
  [[nodiscard]] PageEntry decode(std::uint64_t entry, const RadixLevel& level, bool,
                                 GuestVirt address) const override {
    const unsigned below = (level.shift - arch::riscv64::kPageBits) / arch::riscv64::kIndexBits;
    const auto decoded = TableEntry::decode(entry, below, address.value);
    switch (decoded.kind) {
      case TableEntry::Kind::kNotPresent:
        break;
      case TableEntry::Kind::kTable:
        return {PageEntry::Kind::kTable, GuestPhys{decoded.address}};
      case TableEntry::Kind::kPage:
        return {PageEntry::Kind::kPage, GuestPhys{decoded.address}};
    }
    return {};
  }
};

}  // namespace

std::optional<SupervisorTables> SupervisorTables::of(const arch::Registers& registers) {
  using namespace arch::riscv64;
  constexpr std::uint64_t kMachine = 3;
  if (!registers.has(kPriv)) return std::nullopt;
  if (registers.get(kPriv) == kMachine) return SupervisorTables({}, 0);
  if (!registers.has(kSatp)) return std::nullopt;
  const std::uint64_t satp = registers.get(kSatp);
  const auto levels = levels_of(satp);
  if (!levels) return std::nullopt;
  return SupervisorTables(GuestPhys{root_of(satp)}, *levels);
}

// Pages by Svnapot, which Linux has for large mappings that were asked for, are taken for none.
std::optional<TableShape> SupervisorTables::lower_half() const {
  if (levels_ == 0) return std::nullopt;
  const auto levels = std::span(kLevels).last(levels_);
  TableShape shape;
  shape.address_bits = 12 + 9 * levels_ - 1;
  shape.levels.assign(levels.begin(), levels.end());
  shape.present = {TableEntry::kNapot | TableEntry::kValid, TableEntry::kValid};
  shape.table = {TableEntry::kRead | TableEntry::kExecute, 0};
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
