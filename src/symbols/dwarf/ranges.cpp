#include "symbols/dwarf/ranges.h"

#include <dwarf.h>

namespace ringside::symbols::dwarf {

bool CodeAttributes::take(std::uint16_t attribute, const Value& value) {
  switch (attribute) {
    case DW_AT_low_pc:
      low = value;
      return true;
    case DW_AT_high_pc:
      high = value;
      return true;
    case DW_AT_ranges:
      ranges = value;
      return true;
    default:
      return false;
  }
}

RangeListReader::RangeListReader(const Unit& unit, const Value& ranges)
    : unit_(unit), base_(unit.low_pc) {
  const Format& format = unit.header.format;
  if (format.version < 5) {
    cursor_ = ByteCursor(unit.sections.ranges, ranges.number);
    cursor_.skip(unit.ranges_base);
    return;
  }
  std::uint64_t offset = ranges.number;
  if (ranges.kind == Value::Kind::kListIndex) {
    // The base is that of the offsets, which count from it.
    const std::size_t size = format.offset_size;
    if (unit.rnglists_base > unit.sections.rnglists.size() ||
        offset >= (unit.sections.rnglists.size() - unit.rnglists_base) / size)
      return;
    ByteCursor table(unit.sections.rnglists, unit.rnglists_base + offset * size);
    offset = unit.rnglists_base + table.read_unsigned(size);
  }
  cursor_ = ByteCursor(unit.sections.rnglists, offset);
}

bool RangeListReader::next(AddressRange& range) {
  range = {};
  return unit_.header.format.version < 5 ? next_pair(range) : next_encoded(range);
}

// .debug_ranges (DWARF 4, section 2.17.3).
bool RangeListReader::next_pair(AddressRange& range) {
  const std::size_t size = unit_.header.format.address_size;
  const std::uint64_t highest = size == 4 ? 0xffffffff : ~0ull;
  const std::uint64_t first = cursor_.read_unsigned(size);
  const std::uint64_t second = cursor_.read_unsigned(size);
  if (cursor_.failed() || (first == 0 && second == 0)) return false;
  if (first == highest)
    base_ = second;
  else
    range = {base_ + first, base_ + second};
  return true;
}

// .debug_rnglists (DWARF 5, section 7.25).
bool RangeListReader::next_encoded(AddressRange& range) {
  const std::size_t size = unit_.header.format.address_size;
  const auto indexed = [this] { return unit_.indexed_address(cursor_.read_uleb()).value_or(0); };
  switch (cursor_.read<std::uint8_t>()) {
    case DW_RLE_base_addressx:
      base_ = indexed();
      break;
    case DW_RLE_startx_endx:
      range.low = indexed();
      range.high = indexed();
      break;
    case DW_RLE_startx_length:
      range.low = indexed();
      range.high = range.low + cursor_.read_uleb();
      break;
    case DW_RLE_offset_pair:
      range.low = base_ + cursor_.read_uleb();
      range.high = base_ + cursor_.read_uleb();
      break;
    case DW_RLE_base_address:
      base_ = cursor_.read_unsigned(size);
      break;
    case DW_RLE_start_end:
      range.low = cursor_.read_unsigned(size);
      range.high = cursor_.read_unsigned(size);
      break;
    case DW_RLE_start_length:
      range.low = cursor_.read_unsigned(size);
      range.high = range.low + cursor_.read_uleb();
      break;
    default:  // DW_RLE_end_of_list, and what is not known
      return false;
  }
  return !cursor_.failed();
}

}  // namespace ringside::symbols::dwarf
