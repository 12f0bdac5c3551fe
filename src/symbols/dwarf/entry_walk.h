#pragma once

#include <cstdint>

#include "symbols/dwarf/unit.h"

namespace ringside::symbols::dwarf {

// Goes through an entry and all below it, in the order of the file. Attributes that nobody asks for
// are passed over.
class EntryWalk {
 public:
  // `entry` is an offset of .debug_info within the unit.
  EntryWalk(const Unit& unit, std::uint64_t entry)
      : unit_(unit), abbrevs_(*unit.abbrevs), cursor_(unit.cursor(entry)) {}

  // The next entry's abbreviation, or null at the end, which damage is too.
  const Abbrev* next();

  // Offset and depth of the entry at hand; the first one has depth 0.
  [[nodiscard]] std::uint64_t entry() const { return entry_; }
  [[nodiscard]] std::uint64_t depth() const { return depth_; }
  // How far into .debug_info it has come.
  [[nodiscard]] std::uint64_t offset() const { return cursor_.offset(); }

  // Calls visit(DW_AT_*, Value) for each attribute of the entry at hand.
  template <class Visit>
  void for_each_attribute(Visit visit) {
    for (const AttributeSpec& spec : abbrevs_.attributes(*abbrev_)) {
      const Value value = unit_.read(spec, cursor_);
      if (cursor_.failed()) return;
      visit(spec.name, value);
    }
    at_attributes_ = false;
  }

  // The next entry will be one that is not below the one at hand.
  void skip_children() { skip_ = true; }

 private:
  void leave_entry();
  void skip_subtree();

  const Unit& unit_;
  const AbbrevTable& abbrevs_;
  ByteCursor cursor_;
  const Abbrev* abbrev_ = nullptr;
  std::uint64_t entry_ = 0;
  std::uint64_t attributes_ = 0;  // where the entry's attributes begin
  std::uint64_t depth_ = 0;       // of the entry at hand
  std::uint64_t level_ = 0;       // depth of the next entry
  bool at_attributes_ = false;    // the attributes have not been read
  bool skip_ = false;
};

}  // namespace ringside::symbols::dwarf
