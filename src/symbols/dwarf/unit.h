#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "symbols/dwarf/abbrev.h"
#include "symbols/dwarf/form.h"
#include "symbols/dwarf/sections.h"

namespace ringside::symbols::dwarf {

// The head of a unit of .debug_info (DWARF 5, section 7.5.1). Offsets are of .debug_info.
struct UnitHeader {
  std::uint64_t offset = 0;
  std::uint64_t root = 0;  // the unit's own entry
  std::uint64_t end = 0;   // the next unit
  std::uint64_t abbrev_offset = 0;
  std::uint8_t type = 0;                // DW_UT_*; DW_UT_compile before DWARF 5
  std::optional<std::uint64_t> dwo_id;  // of skeletons and split units, DWARF 5
  // Only in type units, DWARF 5: the signature by which references name the type, and its entry.
  std::uint64_t signature = 0;
  std::uint64_t type_entry = 0;
  Format format;
};

// Error kFormat with the offset. A unit of a version or form that is not known is one too, but
// `header.end` is right whenever the unit's length is: so walks can go on.
[[nodiscard]] Result<void> read_unit_header(Bytes info, std::uint64_t offset, UnitHeader& header);

// A unit and what its entries' values refer to.
struct Unit {
  UnitHeader header;
  Sections sections;
  std::shared_ptr<const AbbrevTable> abbrevs;

  // From the unit's own entry.
  std::string_view name;
  std::string_view comp_dir;
  std::string_view dwo_name;
  std::uint64_t language = 0;  // DW_LANG_*
  std::optional<std::uint64_t> dwo_id;
  std::optional<std::uint64_t> line_offset;  // DW_AT_stmt_list
  std::uint64_t low_pc = 0;
  std::uint64_t high_pc = 0;
  Value ranges;
  std::uint64_t str_offsets_base = 0;
  std::uint64_t addr_base = 0;
  std::uint64_t rnglists_base = 0;
  std::uint64_t ranges_base = 0;
  std::uint64_t split_ranges_base = 0;  // DW_AT_GNU_ranges_base, which counts for the split unit

  // A cursor over .debug_info that cannot leave the unit.
  [[nodiscard]] ByteCursor cursor(std::uint64_t offset) const {
    return ByteCursor(sections.info.first(header.end), offset);
  }
  [[nodiscard]] Value read(const AttributeSpec& spec, ByteCursor& cursor) const {
    return read_value(spec.form, spec.implicit_const, cursor, header.format);
  }
  // Empty where the string is in another file, or is none.
  [[nodiscard]] std::string_view string(const Value& value) const;
  [[nodiscard]] std::optional<std::uint64_t> address(const Value& value) const;
  [[nodiscard]] std::optional<std::uint64_t> indexed_address(std::uint64_t index) const;
  // The offset in .debug_info that a reference within the same file leads to.
  [[nodiscard]] std::optional<std::uint64_t> reference(const Value& value) const;
};

// Data that a split unit gets from the unit that stands for it in the program.
struct SkeletonBases {
  Bytes addr;
  Bytes ranges;
  std::uint64_t addr_base = 0;
  std::uint64_t ranges_base = 0;
  std::uint64_t low_pc = 0;
  std::string_view comp_dir;
  const elf::ElfFile* program = nullptr;
};

// Reads the unit at `offset` of `sections.info`. `abbrevs`, those of another unit, may be null;
// they are shared where they are this unit's too. `skeleton` is null but for split units.
[[nodiscard]] Result<std::shared_ptr<Unit>> read_unit(const Sections& sections,
                                                      std::uint64_t offset,
                                                      std::shared_ptr<const AbbrevTable> abbrevs,
                                                      const SkeletonBases* skeleton = nullptr);

[[nodiscard]] std::string_view string_at(Bytes section, std::uint64_t offset);

}  // namespace ringside::symbols::dwarf
