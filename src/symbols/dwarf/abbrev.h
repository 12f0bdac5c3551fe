#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "symbols/dwarf/form.h"

namespace ringside::symbols::dwarf {

struct AttributeSpec {
  std::uint16_t name = 0;  // DW_AT_*
  std::uint16_t form = 0;  // DW_FORM_*
  std::int64_t implicit_const = 0;
};

// One way to skip attributes: so many bytes, then, if `form` is not 0, one value of that form.
struct SkipStep {
  std::uint32_t bytes = 0;
  std::uint16_t form = 0;
};

// One abbreviation, with what it takes to pass over an entry of that kind quickly.
struct Abbrev {
  std::uint16_t tag = 0;  // DW_TAG_*
  bool has_children = false;
  bool has_code = false;  // DW_AT_low_pc or DW_AT_ranges
  // Where DW_AT_sibling is: so many bytes behind so many steps; form 0: there is none.
  std::uint16_t sibling_form = 0;
  std::uint32_t sibling_step = 0;
  std::uint32_t sibling_at = 0;
  std::uint32_t first_attribute = 0;
  std::uint32_t attribute_count = 0;
  std::uint32_t first_step = 0;
  std::uint32_t step_count = 0;
};

// The abbreviations of a unit (DWARF 5, section 7.5.3).
class AbbrevTable {
 public:
  // Null where the table at `offset` is damaged.
  [[nodiscard]] static std::shared_ptr<const AbbrevTable> parse(Bytes section, std::uint64_t offset,
                                                                const Format& format);

  // Null for a code that is not in the table.
  [[nodiscard]] const Abbrev* find(std::uint64_t code) const {
    if (code - 1 < abbrevs_.size() && others_.empty()) return &abbrevs_[code - 1];
    return find_other(code);
  }
  [[nodiscard]] std::span<const AttributeSpec> attributes(const Abbrev& abbrev) const {
    return std::span(attributes_).subspan(abbrev.first_attribute, abbrev.attribute_count);
  }
  // True for what parse() would read from there.
  [[nodiscard]] bool is_at(std::uint64_t offset, const Format& format) const {
    return offset == offset_ && format == format_;
  }

  // From the first attribute behind the last one.
  void skip_attributes(const Abbrev& abbrev, ByteCursor& cursor) const {
    take_steps(abbrev, abbrev.step_count, cursor);
  }
  // From the first attribute to DW_AT_sibling's value, and reads it; needs a sibling_form.
  [[nodiscard]] Value read_sibling(const Abbrev& abbrev, ByteCursor& cursor) const {
    take_steps(abbrev, abbrev.sibling_step, cursor);
    cursor.skip(abbrev.sibling_at);
    return read_value(abbrev.sibling_form, 0, cursor, format_);
  }

  [[nodiscard]] std::size_t memory() const;

 private:
  bool read_abbrev(ByteCursor& cursor, Abbrev& abbrev);
  void take_steps(const Abbrev& abbrev, std::uint32_t count, ByteCursor& cursor) const {
    const SkipStep* step = steps_.data() + abbrev.first_step;
    for (std::uint32_t i = 0; i < count; ++i, ++step) {
      cursor.skip(step->bytes);
      if (step->form != 0) skip_value(step->form, cursor, format_);
    }
  }
  [[nodiscard]] const Abbrev* find_other(std::uint64_t code) const;

  std::uint64_t offset_ = 0;
  Format format_;
  std::vector<Abbrev> abbrevs_;
  std::vector<AttributeSpec> attributes_;
  std::vector<SkipStep> steps_;
  // Index by code, for tables whose codes are not 1, 2, 3, …
  std::unordered_map<std::uint64_t, std::size_t> others_;
};

}  // namespace ringside::symbols::dwarf
