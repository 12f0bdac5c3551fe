#include "memory/aarch64/page_walk.h"

#include <algorithm>
#include <array>

#include "memory/radix_walk.h"

namespace ringside::memory::aarch64 {
namespace {

// One half of the addresses, as TCR_EL1 describes it.
struct Region {
  std::uint64_t ttbr = 0;
  unsigned granule_bits = 0;  // 12, 14 or 16; 0: TG says nothing known
  unsigned address_bits = 0;  // of a virtual address
  bool top_byte_ignored = false;
  bool no_walks = false;
  bool lpa2 = false;       // TCR_EL1.DS, which has no meaning for 64 KiB
  bool wide_base = false;  // the output address has 52 bits

  [[nodiscard]] bool is_known() const {
    if (granule_bits == 0) return false;
    const unsigned most = lpa2 || granule_bits == 16 ? 52 : 48;
    return address_bits <= most && address_bits >= (granule_bits == 16 ? 17u : 16u);
  }
};

// TCR_EL1.TG0 and TG1 spell them differently.
constexpr std::array<unsigned, 4> kLowerGranule{12, 16, 14, 0};
constexpr std::array<unsigned, 4> kUpperGranule{0, 14, 12, 16};

Region region_of(const StageOneTables::Roots& roots, bool upper) {
  const std::uint64_t tcr = roots.tcr;
  Region region;
  region.ttbr = upper ? roots.ttbr1 : roots.ttbr0;
  region.granule_bits = upper ? kUpperGranule[tcr >> 30 & 3] : kLowerGranule[tcr >> 14 & 3];
  region.address_bits = 64 - static_cast<unsigned>(tcr >> (upper ? 16 : 0) & 0x3f);
  region.top_byte_ignored = (tcr >> (upper ? 38 : 37) & 1) != 0;
  region.no_walks = (tcr >> (upper ? 23 : 7) & 1) != 0;  // EPD0, EPD1
  region.lpa2 = (tcr >> 59 & 1) != 0 && region.granule_bits != 16;
  constexpr std::uint64_t k52Bits = 6;  // of IPS
  region.wide_base = (tcr >> 32 & 7) == k52Bits && (region.lpa2 || region.granule_bits == 16);
  return region;
}

constexpr std::uint64_t kValid = 1, kTableOrPage = 2;

// The bits of an entry that hold the address. With FEAT_LPA2 bits 51:50 are in the entry's 9:8;
// with 64 KiB pages 51:48 are in 15:12.
std::array<TableShape::AddressBits, 2> address_bits(const Region& region) {
  TableShape::AddressBits above;
  if (region.wide_base && region.lpa2) above = {0x300, 42};
  if (region.wide_base && !region.lpa2) above = {0xf000, 36};
  return {{{low_bits(region.lpa2 ? 50 : 48) & ~low_bits(region.granule_bits), 0}, above}};
}

// VMSAv8-64 descriptors, sections D8.3.1 (tables) and D8.3.2 (blocks and pages).
class Format final : public EntryFormat {
 public:
  explicit Format(const Region& region) : address_(address_bits(region)) {}

  [[nodiscard]] PageEntry decode(std::uint64_t entry, const RadixLevel& level, bool last,
                                 GuestVirt) const override {
    if ((entry & kValid) == 0) return {};
    const bool table_or_page = (entry & kTableOrPage) != 0;
    const std::uint64_t address = address_in(entry);
    if (table_or_page && !last) return {PageEntry::Kind::kTable, GuestPhys{address}};
    if (table_or_page != last || (!last && !level.may_be_page)) return {};
    return {PageEntry::Kind::kPage, GuestPhys{address & ~low_bits(level.shift)}};
  }

 private:
  [[nodiscard]] std::uint64_t address_in(std::uint64_t entry) const {
    std::uint64_t address = 0;
    for (const TableShape::AddressBits& bits : address_)
      address |= (entry & bits.mask) << bits.left;
    return address;
  }

  std::array<TableShape::AddressBits, 2> address_;
};

struct Levels {
  std::array<RadixLevel, 5> levels{};
  std::size_t count = 0;
};

// Blocks: 1 GiB and 2 MiB; 32 MiB; 512 MiB; and with 52-bit addresses 512 GiB, 64 GiB, 4 TiB.
bool may_be_block(const Region& region, unsigned shift) {
  const unsigned stride = region.granule_bits - 3;
  if (shift == region.granule_bits + stride) return true;
  if (region.granule_bits == 12 && shift == 30) return true;
  return region.granule_bits == 12 ? region.lpa2 && shift == 39
                                   : region.wide_base && shift == region.granule_bits + 2 * stride;
}

// The root's table is as small as the address bits that are left for it.
Levels levels_of(const Region& region) {
  const unsigned stride = region.granule_bits - 3;
  const unsigned chosen_by_tables = region.address_bits - region.granule_bits;
  Levels result;
  result.count = (chosen_by_tables + stride - 1) / stride;
  for (std::size_t i = 0; i < result.count; ++i) {
    const unsigned shift =
        region.granule_bits + stride * static_cast<unsigned>(result.count - 1 - i);
    const unsigned bits = i == 0 ? region.address_bits - shift : stride;
    result.levels[i] = {static_cast<std::uint8_t>(shift), static_cast<std::uint8_t>(bits),
                        may_be_block(region, shift)};
  }
  return result;
}

// TTBRn_EL1.BADDR: aligned to the table's size; with 52-bit addresses bits 51:48 are in 5:2.
GuestPhys root_of(const Region& region, const RadixLevel& first) {
  const std::uint64_t base = region.ttbr & low_bits(48);
  if (!region.wide_base) return GuestPhys{base & ~low_bits(first.index_bits + 3u)};
  const unsigned aligned = std::max(first.index_bits + 3u, 6u);
  return GuestPhys{(base & ~low_bits(aligned)) | (region.ttbr >> 2 & 0xf) << 48};
}

}  // namespace

std::uint64_t upper_granule(std::uint64_t tcr) {
  const unsigned bits = kUpperGranule[tcr >> 30 & 3];
  return bits == 0 ? 0 : std::uint64_t{1} << bits;
}

std::optional<StageOneTables> StageOneTables::of(const arch::Registers& registers) {
  using namespace arch::aarch64;
  for (const std::uint8_t needed : {kCpsr, kTtbr0El1, kTtbr1El1, kTcrEl1})
    if (!registers.has(needed)) return std::nullopt;
  // SPSR_ELx.M (C5.2.18): bits 3:2 are the exception level of AArch64; AArch32's EL0 is 0x10.
  const std::uint64_t mode = registers.get(kCpsr) & 0x1f;
  if (mode != 0x10 && mode > 5) return std::nullopt;
  Roots roots{registers.get(kTtbr0El1), registers.get(kTtbr1El1), registers.get(kTcrEl1)};
  if (registers.has(kSctlrEl1)) roots.translates = (registers.get(kSctlrEl1) & 1) != 0;
  return StageOneTables(roots);
}

std::optional<TableShape> StageOneTables::lower_half() const {
  const Region region = region_of(roots_, false);
  if (!roots_.translates || !region.is_known()) return std::nullopt;
  const Levels levels = levels_of(region);
  TableShape shape;
  shape.address_bits = region.address_bits;
  shape.levels.assign(levels.levels.begin(),
                      levels.levels.begin() + static_cast<std::ptrdiff_t>(levels.count));
  shape.present = {kValid, kValid};
  shape.table = {kTableOrPage, kTableOrPage};
  shape.address = address_bits(region);
  return shape;
}

Result<PageWalk> StageOneTables::walk(PhysicalMemory& physical, GuestVirt address) const {
  if (!roots_.translates) return identity_walk(address);
  const bool upper = (address.value >> 55 & 1) != 0;
  const Region region = region_of(roots_, upper);
  if (!region.is_known()) return PageWalk{WalkEnd::kUnreadable, {}, 0, 0, {}};
  // The top byte, where it is ignored, is bit 55's copies.
  const auto shifted = static_cast<std::int64_t>(address.value << 8);
  const std::uint64_t plain =
      region.top_byte_ignored ? static_cast<std::uint64_t>(shifted >> 8) : address.value;
  // All bits above those of an address show the half.
  const std::uint64_t half = upper ? ~low_bits(region.address_bits) : 0;
  if ((plain & ~low_bits(region.address_bits)) != half) {
    const Region above = region_of(roots_, true);
    if (!above.is_known()) return PageWalk{};
    return not_canonical(address, GuestVirt{~low_bits(above.address_bits)});
  }
  if (region.no_walks) return PageWalk{WalkEnd::kNotPresent, {}, 0, 0, {}};
  const Levels levels = levels_of(region);
  RadixTables tables;
  tables.levels = std::span(levels.levels).first(levels.count);
  tables.root = root_of(region, tables.levels.front());
  return walk_radix(physical, tables, Format(region), GuestVirt{plain});
}

}  // namespace ringside::memory::aarch64
