#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/byte_cursor.h"

namespace ringside::symbols::dwarf {

// Parameters that the size of a form depends on.
struct Format {
  std::uint16_t version = 5;
  std::uint8_t address_size = 8;
  std::uint8_t offset_size = 4;  // 8 in 64-bit DWARF
  bool operator==(const Format&) const = default;
};

// The value of an attribute, as it stands in the unit: strings, addresses and references are not
// looked up yet.
struct Value {
  enum class Kind : std::uint8_t {
    kNone,
    kNumber,         // constants and flags; a signed one is sign-extended
    kAddress,        //
    kAddressIndex,   // of .debug_addr
    kString,         // `text`
    kStringOffset,   // of .debug_str
    kLineString,     // offset of .debug_line_str
    kStringIndex,    // of .debug_str_offsets
    kAltString,      // offset of the alternate file's .debug_str
    kUnitRef,        // offset from the start of the unit
    kInfoRef,        // offset of .debug_info
    kAltRef,         // offset of the alternate file's .debug_info
    kSectionOffset,  // of a line table or a list
    kListIndex,      // of .debug_rnglists or .debug_loclists
    kSignature,      // of a type unit
    kOther,          // blocks and expressions: their bytes are `text`
  };
  Kind kind = Kind::kNone;
  std::uint64_t number = 0;
  std::string_view text;

  explicit operator bool() const { return kind != Kind::kNone; }
};

// Forms: DWARF 5, section 7.5.6; GNU's own: elfutils' dwarf.h. A form that is not known makes the
// cursor fail, for nobody knows where the next attribute is.
[[nodiscard]] Value read_value(std::uint16_t form, std::int64_t implicit_const, ByteCursor& cursor,
                               const Format& format);
// Its size in bytes where every value of that form has the same.
[[nodiscard]] std::optional<std::uint32_t> fixed_size(std::uint16_t form, const Format& format);
void skip_value(std::uint16_t form, ByteCursor& cursor, const Format& format);

}  // namespace ringside::symbols::dwarf
