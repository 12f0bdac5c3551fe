#include "symbols/dwarf/unit.h"

#include <dwarf.h>

namespace ringside::symbols::dwarf {
namespace {

constexpr std::uint32_t kIs64 = 0xffffffff;  // DWARF 5, section 7.4
constexpr std::uint32_t kFirstReserved = 0xfffffff0;

// The unit's contribution to .debug_str_offsets begins behind a header where the unit does not say
// where: 8 bytes, or 16 in 64-bit DWARF (DWARF 5, section 7.26); GNU's older one has no header.
std::uint64_t default_str_offsets_base(const Format& format) {
  if (format.version < 5) return 0;
  return format.offset_size == 8 ? 16 : 8;
}

std::uint64_t default_rnglists_base(const Format& format) {
  return format.offset_size == 8 ? 20 : 12;  // DWARF 5, section 7.28
}

// An entry of a table of numbers of `size` bytes.
std::optional<std::uint64_t> table_entry(Bytes table, std::uint64_t base, std::uint64_t index,
                                         std::size_t size) {
  if (base > table.size() || index >= (table.size() - base) / size) return std::nullopt;
  ByteCursor cursor(table, base + index * size);
  return cursor.read_unsigned(size);
}

// The attributes of the root whose values do not depend on others, and, in a second pass, those
// that do (an index may stand before the base that it counts from).
void read_root(Unit& unit, const Abbrev& abbrev, ByteCursor cursor, bool bases) {
  Value high;
  for (const AttributeSpec& spec : unit.abbrevs->attributes(abbrev)) {
    const Value value = unit.read(spec, cursor);
    if (cursor.failed()) return;
    if (bases) {
      if (spec.name == DW_AT_str_offsets_base) unit.str_offsets_base = value.number;
      if (spec.name == DW_AT_addr_base || spec.name == DW_AT_GNU_addr_base)
        unit.addr_base = value.number;
      if (spec.name == DW_AT_rnglists_base) unit.rnglists_base = value.number;
      if (spec.name == DW_AT_GNU_ranges_base) unit.split_ranges_base = value.number;
      continue;
    }
    switch (spec.name) {
      case DW_AT_name:
        unit.name = unit.string(value);
        break;
      case DW_AT_comp_dir:
        unit.comp_dir = unit.string(value);
        break;
      case DW_AT_dwo_name:
      case DW_AT_GNU_dwo_name:
        unit.dwo_name = unit.string(value);
        break;
      case DW_AT_GNU_dwo_id:
        unit.dwo_id = value.number;
        break;
      case DW_AT_language:
        unit.language = value.number;
        break;
      case DW_AT_stmt_list:
        unit.line_offset = value.number;
        break;
      case DW_AT_low_pc:
        unit.low_pc = unit.address(value).value_or(0);
        break;
      case DW_AT_high_pc:
        high = value;
        break;
      case DW_AT_ranges:
        unit.ranges = value;
        break;
      default:
        break;
    }
  }
  if (!high) return;
  const bool is_length = high.kind == Value::Kind::kNumber;
  unit.high_pc = is_length ? unit.low_pc + high.number : unit.address(high).value_or(0);
}

}  // namespace

std::string_view string_at(Bytes section, std::uint64_t offset) {
  return ByteCursor(section, offset).read_c_string();
}

Result<void> read_unit_header(Bytes info, std::uint64_t offset, UnitHeader& header) {
  ByteCursor cursor(info, offset);
  header = {};
  header.offset = offset;
  std::uint64_t length = cursor.read<std::uint32_t>();
  if (length == kIs64) {
    header.format.offset_size = 8;
    length = cursor.read<std::uint64_t>();
  } else if (length >= kFirstReserved) {
    return fail(ErrorCode::kFormat, "unit at {:#x}: reserved length {:#x}", offset, length);
  }
  if (cursor.failed() || length > cursor.remaining())
    return fail(ErrorCode::kTruncated, "unit at {:#x}: its length {:#x} leaves .debug_info", offset,
                length);
  header.end = cursor.offset() + length;
  Format& format = header.format;
  format.version = cursor.read<std::uint16_t>();
  if (format.version < 2 || format.version > 5)
    return fail(ErrorCode::kUnsupported, "unit at {:#x}: DWARF version {}", offset, format.version);
  header.type = DW_UT_compile;
  if (format.version >= 5) {
    header.type = cursor.read<std::uint8_t>();
    format.address_size = cursor.read<std::uint8_t>();
    header.abbrev_offset = cursor.read_unsigned(format.offset_size);
    if (header.type == DW_UT_skeleton || header.type == DW_UT_split_compile)
      header.dwo_id = cursor.read<std::uint64_t>();
    if (header.type == DW_UT_type || header.type == DW_UT_split_type) {
      header.signature = cursor.read<std::uint64_t>();
      header.type_entry = offset + cursor.read_unsigned(format.offset_size);
    }
  } else {
    header.abbrev_offset = cursor.read_unsigned(format.offset_size);
    format.address_size = cursor.read<std::uint8_t>();
  }
  header.root = cursor.offset();
  if (cursor.failed() || header.root > header.end)
    return fail(ErrorCode::kTruncated, "unit at {:#x} is shorter than its header", offset);
  if (format.address_size != 4 && format.address_size != 8)
    return fail(ErrorCode::kUnsupported, "unit at {:#x}: addresses of {} bytes", offset,
                format.address_size);
  return {};
}

Result<std::shared_ptr<Unit>> read_unit(const Sections& sections, std::uint64_t offset,
                                        std::shared_ptr<const AbbrevTable> abbrevs,
                                        const SkeletonBases* skeleton) {
  auto unit = std::make_shared<Unit>();
  RINGSIDE_TRY(read_unit_header(sections.info, offset, unit->header));
  unit->sections = sections;
  const Format& format = unit->header.format;
  const bool shared = abbrevs && abbrevs->is_at(unit->header.abbrev_offset, format);
  unit->abbrevs = shared ? std::move(abbrevs)
                         : AbbrevTable::parse(sections.abbrev, unit->header.abbrev_offset, format);
  if (!unit->abbrevs)
    return fail(ErrorCode::kFormat, "unit at {:#x}: damaged abbreviations at {:#x}", offset,
                unit->header.abbrev_offset);
  unit->dwo_id = unit->header.dwo_id;
  unit->str_offsets_base = default_str_offsets_base(format);
  unit->rnglists_base = default_rnglists_base(format);
  if (skeleton != nullptr) {
    unit->sections.addr = skeleton->addr;
    unit->addr_base = skeleton->addr_base;
    unit->low_pc = skeleton->low_pc;
    unit->comp_dir = skeleton->comp_dir;
    unit->sections.program = skeleton->program;
    if (format.version < 5) {
      unit->sections.ranges = skeleton->ranges;
      unit->ranges_base = skeleton->ranges_base;
    }
  }
  ByteCursor cursor = unit->cursor(unit->header.root);
  const Abbrev* abbrev = unit->abbrevs->find(cursor.read_uleb());
  if (abbrev == nullptr)
    return fail(ErrorCode::kFormat, "unit at {:#x}: no abbreviation for its first entry", offset);
  read_root(*unit, *abbrev, cursor, true);
  read_root(*unit, *abbrev, cursor, false);
  return unit;
}

std::string_view Unit::string(const Value& value) const {
  switch (value.kind) {
    case Value::Kind::kString:
      return value.text;
    case Value::Kind::kStringOffset:
      return string_at(sections.str, value.number);
    case Value::Kind::kLineString:
      return string_at(sections.line_str, value.number);
    case Value::Kind::kStringIndex: {
      const auto offset = table_entry(sections.str_offsets, str_offsets_base, value.number,
                                      header.format.offset_size);
      return offset ? string_at(sections.str, *offset) : std::string_view();
    }
    default:
      return {};
  }
}

std::optional<std::uint64_t> Unit::indexed_address(std::uint64_t index) const {
  return table_entry(sections.addr, addr_base, index, header.format.address_size);
}

std::optional<std::uint64_t> Unit::address(const Value& value) const {
  if (value.kind == Value::Kind::kAddress) return value.number;
  if (value.kind == Value::Kind::kAddressIndex) return indexed_address(value.number);
  return std::nullopt;
}

std::optional<std::uint64_t> Unit::reference(const Value& value) const {
  if (value.kind == Value::Kind::kInfoRef) return value.number;
  if (value.kind != Value::Kind::kUnitRef) return std::nullopt;
  if (value.number >= header.end - header.offset) return std::nullopt;
  return header.offset + value.number;
}

}  // namespace ringside::symbols::dwarf
