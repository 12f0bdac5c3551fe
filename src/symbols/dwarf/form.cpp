#include "symbols/dwarf/form.h"

#include <dwarf.h>

namespace ringside::symbols::dwarf {
namespace {

// DW_FORM_ref_addr had the size of an address in DWARF 2 (DWARF 3, section 7.5.4).
std::uint8_t ref_addr_size(const Format& format) {
  return format.version <= 2 ? format.address_size : format.offset_size;
}

Value number(std::uint64_t value) { return {Value::Kind::kNumber, value, {}}; }

Value block(ByteCursor& cursor, std::uint64_t size) {
  const Bytes bytes = cursor.read_bytes(size);
  return {Value::Kind::kOther, size, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
}

// A value of `fixed_size` bytes that is looked up elsewhere.
std::optional<Value::Kind> kind_of_fixed(std::uint16_t form) {
  using Kind = Value::Kind;
  switch (form) {
    case DW_FORM_addr:
      return Kind::kAddress;
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
      return Kind::kAddressIndex;
    case DW_FORM_strp:
      return Kind::kStringOffset;
    case DW_FORM_line_strp:
      return Kind::kLineString;
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
      return Kind::kStringIndex;
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt:
      return Kind::kAltString;
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
      return Kind::kUnitRef;
    case DW_FORM_ref_addr:
      return Kind::kInfoRef;
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
    case DW_FORM_GNU_ref_alt:
      return Kind::kAltRef;
    case DW_FORM_sec_offset:
      return Kind::kSectionOffset;
    case DW_FORM_data1:
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_flag:
      return Kind::kNumber;
    case DW_FORM_ref_sig8:
      return Kind::kSignature;
    case DW_FORM_data16:
      return Kind::kOther;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::uint32_t> fixed_size(std::uint16_t form, const Format& format) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_ref_sup4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return format.address_size;
    case DW_FORM_ref_addr:
      return ref_addr_size(format);
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return format.offset_size;
    default:
      return std::nullopt;
  }
}

Value read_value(std::uint16_t form, std::int64_t implicit_const, ByteCursor& cursor,
                 const Format& format) {
  using Kind = Value::Kind;
  if (const auto kind = kind_of_fixed(form)) {
    const std::uint32_t size = *fixed_size(form, format);
    if (*kind == Kind::kOther) return block(cursor, size);
    return {*kind, cursor.read_unsigned(size), {}};
  }
  switch (form) {
    case DW_FORM_flag_present:
      return number(1);
    case DW_FORM_implicit_const:
      return number(static_cast<std::uint64_t>(implicit_const));
    case DW_FORM_udata:
      return number(cursor.read_uleb());
    case DW_FORM_sdata:
      return number(static_cast<std::uint64_t>(cursor.read_sleb()));
    case DW_FORM_string:
      return {Kind::kString, 0, cursor.read_c_string()};
    case DW_FORM_strx:
    case DW_FORM_GNU_str_index:
      return {Kind::kStringIndex, cursor.read_uleb(), {}};
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index:
      return {Kind::kAddressIndex, cursor.read_uleb(), {}};
    case DW_FORM_ref_udata:
      return {Kind::kUnitRef, cursor.read_uleb(), {}};
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
      return {Kind::kListIndex, cursor.read_uleb(), {}};
    case DW_FORM_block1:
      return block(cursor, cursor.read<std::uint8_t>());
    case DW_FORM_block2:
      return block(cursor, cursor.read<std::uint16_t>());
    case DW_FORM_block4:
      return block(cursor, cursor.read<std::uint32_t>());
    case DW_FORM_block:
    case DW_FORM_exprloc:
      return block(cursor, cursor.read_uleb());
    case DW_FORM_indirect: {
      const std::uint64_t inner = cursor.read_uleb();
      // An implicit constant has no place for its value here, an indirection twice no meaning.
      if (inner != DW_FORM_indirect && inner != DW_FORM_implicit_const && inner <= 0xffff)
        return read_value(static_cast<std::uint16_t>(inner), 0, cursor, format);
      [[fallthrough]];
    }
    default:
      cursor.skip(~std::uint64_t{0});
      return {};
  }
}

void skip_value(std::uint16_t form, ByteCursor& cursor, const Format& format) {
  switch (form) {
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
      return cursor.skip_leb();
    case DW_FORM_exprloc:
      return cursor.skip(cursor.read_uleb());
    default:
      static_cast<void>(read_value(form, 0, cursor, format));
  }
}

}  // namespace ringside::symbols::dwarf
