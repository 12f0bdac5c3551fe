#include "symbols/dwarf/abbrev.h"

#include <dwarf.h>

namespace ringside::symbols::dwarf {
namespace {

// Limit for one abbreviation. DWARF 5 has some 140 attributes, each at most once in an entry
// (section 2.2); compilers write up to some 20. Those without bytes would make small entries cost
// much.
constexpr std::size_t kMaxAttributes = 512;
constexpr std::size_t kMaxAbbrevs = 1 << 20;  // a C++ program of 1 GB has some 10,000 in one table

std::uint16_t narrow(std::uint64_t value) {
  return value <= 0xffff ? static_cast<std::uint16_t>(value) : std::uint16_t{0};
}

}  // namespace

std::shared_ptr<const AbbrevTable> AbbrevTable::parse(Bytes section, std::uint64_t offset,
                                                      const Format& format) {
  auto table = std::make_shared<AbbrevTable>();
  table->offset_ = offset;
  table->format_ = format;
  table->abbrevs_.reserve(128);
  table->attributes_.reserve(1024);
  table->steps_.reserve(256);
  ByteCursor cursor(section, offset);
  bool in_order = true;
  std::vector<std::uint64_t> codes;
  while (const std::uint64_t code = cursor.read_uleb()) {
    Abbrev abbrev;
    if (!table->read_abbrev(cursor, abbrev) || codes.size() == kMaxAbbrevs) return nullptr;
    table->abbrevs_.push_back(abbrev);
    codes.push_back(code);
    in_order = in_order && code == codes.size();
  }
  if (cursor.failed()) return nullptr;
  if (!in_order)
    for (std::size_t i = 0; i < codes.size(); ++i) table->others_.try_emplace(codes[i], i);
  return table;
}

bool AbbrevTable::read_abbrev(ByteCursor& cursor, Abbrev& abbrev) {
  abbrev.tag = narrow(cursor.read_uleb());
  abbrev.has_children = cursor.read<std::uint8_t>() == DW_CHILDREN_yes;
  abbrev.first_attribute = static_cast<std::uint32_t>(attributes_.size());
  abbrev.first_step = static_cast<std::uint32_t>(steps_.size());
  SkipStep step;
  while (true) {
    AttributeSpec spec;
    spec.name = narrow(cursor.read_uleb());
    const std::uint64_t form = cursor.read_uleb();
    spec.form = narrow(form);
    if (spec.form == DW_FORM_implicit_const) spec.implicit_const = cursor.read_sleb();
    if (cursor.failed()) return false;
    if (spec.name == 0 && form == 0) break;
    if (spec.form == 0 || attributes_.size() - abbrev.first_attribute == kMaxAttributes)
      return false;
    if (spec.name == DW_AT_sibling) {
      abbrev.sibling_form = spec.form;
      abbrev.sibling_step = static_cast<std::uint32_t>(steps_.size()) - abbrev.first_step;
      abbrev.sibling_at = step.bytes;
    }
    if (spec.name == DW_AT_low_pc || spec.name == DW_AT_ranges) abbrev.has_code = true;
    attributes_.push_back(spec);
    if (const auto size = fixed_size(spec.form, format_)) {
      step.bytes += *size;
    } else {
      step.form = spec.form;
      steps_.push_back(step);
      step = {};
    }
  }
  if (step.bytes != 0) steps_.push_back(step);
  abbrev.attribute_count = static_cast<std::uint32_t>(attributes_.size()) - abbrev.first_attribute;
  abbrev.step_count = static_cast<std::uint32_t>(steps_.size()) - abbrev.first_step;
  return true;
}

const Abbrev* AbbrevTable::find_other(std::uint64_t code) const {
  const auto found = others_.find(code);
  return found == others_.end() ? nullptr : &abbrevs_[found->second];
}

std::size_t AbbrevTable::memory() const {
  return abbrevs_.capacity() * sizeof(Abbrev) + attributes_.capacity() * sizeof(AttributeSpec) +
         steps_.capacity() * sizeof(SkipStep) + others_.size() * 48;
}

}  // namespace ringside::symbols::dwarf
