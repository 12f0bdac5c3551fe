#include "symbols/dwarf/split_unit.h"

#include <dwarf.h>

#include <array>
#include <optional>

namespace ringside::symbols::dwarf {
namespace {

// Columns of an index: the same numbers mean other sections in GNU's version 2 than in DWARF 5
// (version 5, section 7.3.5.3; https://gcc.gnu.org/wiki/DebugFissionDWP).
enum Column : std::uint32_t {
  kInfo = 1,
  kAbbrev = 3,
  kStrOffsets = 6,
  kRangeLists = 8,  // DWARF 5's
};

void narrow(Bytes& section, std::uint64_t offset, std::uint64_t size) {
  if (offset > section.size() || size > section.size() - offset)
    section = {};
  else
    section = section.subspan(offset, size);
}

// Those parts of a .dwp file's sections that belong to the unit `id`, by .debug_cu_index.
std::optional<Sections> contributions(Bytes index, std::uint64_t id, Sections sections) {
  ByteCursor cursor(index);
  // Version 2 has 4 bytes for the version, 5 has 2 and 2 of padding.
  const std::uint32_t version = cursor.read<std::uint32_t>() & 0xffff;
  const std::uint64_t columns = cursor.read<std::uint32_t>();
  const std::uint64_t units = cursor.read<std::uint32_t>();
  const std::uint64_t slots = cursor.read<std::uint32_t>();
  const std::uint64_t hashes = cursor.offset();
  const std::uint64_t rows = hashes + 8 * slots;
  const std::uint64_t names = rows + 4 * slots;
  const std::uint64_t offsets = names + 4 * columns;
  const std::uint64_t sizes = offsets + 4 * columns * units;
  if (cursor.failed() || (version != 2 && version != 5) || columns > 16 || units > slots ||
      sizes + 4 * columns * units > index.size())
    return std::nullopt;
  const auto number = [&](std::uint64_t offset) {
    return ByteCursor(index, offset).read<std::uint32_t>();
  };
  std::uint64_t row = 0;
  // Linearly: one look-up for each unit that is met, and no trust in the hash's step.
  for (std::uint64_t slot = 0; slot < slots && row == 0; ++slot)
    if (ByteCursor(index, hashes + 8 * slot).read<std::uint64_t>() == id)
      row = number(rows + 4 * slot);
  if (row == 0 || row > units) return std::nullopt;
  for (std::uint64_t column = 0; column < columns; ++column) {
    const std::uint64_t at = 4 * ((row - 1) * columns + column);
    const std::uint64_t offset = number(offsets + at);
    const std::uint64_t size = number(sizes + at);
    switch (number(names + 4 * column)) {
      case kInfo:
        narrow(sections.info, offset, size);
        break;
      case kAbbrev:
        narrow(sections.abbrev, offset, size);
        break;
      case kStrOffsets:
        narrow(sections.str_offsets, offset, size);
        break;
      case kRangeLists:
        if (version == 5) narrow(sections.rnglists, offset, size);
        break;
      default:
        break;
    }
  }
  return sections;
}

}  // namespace

std::shared_ptr<const Unit> read_split_unit(const elf::ElfFile& file, const Unit& skeleton) {
  if (!skeleton.dwo_id) return nullptr;
  Sections sections = read_sections(file, ".dwo");
  if (const auto index = file.section(".debug_cu_index")) {
    const auto own = contributions(index->bytes, *skeleton.dwo_id, sections);
    if (!own) return nullptr;
    sections = *own;
  }
  SkeletonBases bases;
  bases.addr = skeleton.sections.addr;
  bases.ranges = skeleton.sections.ranges;
  bases.addr_base = skeleton.addr_base;
  bases.ranges_base = skeleton.split_ranges_base;
  bases.low_pc = skeleton.low_pc;
  bases.comp_dir = skeleton.comp_dir;
  bases.program = skeleton.sections.program;
  for (std::uint64_t offset = 0; offset < sections.info.size();) {
    UnitHeader header;
    const bool good = read_unit_header(sections.info, offset, header).has_value();
    if (header.end <= offset) break;
    if (good && header.type != DW_UT_split_type) {
      auto unit = read_unit(sections, offset, nullptr, &bases);
      if (unit && (*unit)->dwo_id == skeleton.dwo_id) return std::move(*unit);
    }
    offset = header.end;
  }
  return nullptr;
}

}  // namespace ringside::symbols::dwarf
