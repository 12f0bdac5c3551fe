#pragma once

#include <cstdint>
#include <functional>

#include "symbols/dwarf/unit.h"

namespace ringside::symbols::dwarf {

// Addresses as linked, [low, high).
struct AddressRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  [[nodiscard]] std::uint64_t size() const { return high - low; }
  [[nodiscard]] bool contains(std::uint64_t address) const { return address - low < size(); }
};

// Where code of an entry lies: its attributes DW_AT_low_pc, DW_AT_high_pc and DW_AT_ranges.
struct CodeAttributes {
  Value low;
  Value high;
  Value ranges;

  // True if the attribute is one of them.
  bool take(std::uint16_t attribute, const Value& value);
};

// How many entries of range lists may still be read: many entries of a hostile file can name one
// long list.
using RangeBudget = std::uint32_t;
inline constexpr RangeBudget kRangeBudget = 1 << 20;

// Calls `visit` for every range that is not empty, until it returns false. Ranges that a linker
// left behind for code it removed are left out: at -1 and -2 (DWARF 5's own successor, and lld),
// and at Sections::is_removed().
// Stops without a word where a list is damaged or the budget is used up.
template <class Visit>
void for_each_range(const Unit& unit, const CodeAttributes& code, RangeBudget& budget, Visit visit);

// One entry of a range list: the range, or nothing where the entry only sets the base.
class RangeListReader {
 public:
  RangeListReader(const Unit& unit, const Value& ranges);
  // False at the end of the list.
  bool next(AddressRange& range);

 private:
  bool next_pair(AddressRange& range);
  bool next_encoded(AddressRange& range);

  const Unit& unit_;
  ByteCursor cursor_;
  std::uint64_t base_;
};

template <class Visit>
void for_each_range(const Unit& unit, const CodeAttributes& code, RangeBudget& budget,
                    Visit visit) {
  const std::uint64_t highest = unit.header.format.address_size == 4 ? 0xffffffff : ~0ull;
  const auto is_code = [&](const AddressRange& at) {
    return at.low < at.high && at.low < highest - 1 && !unit.sections.is_removed(at.low);
  };
  AddressRange range;
  if (code.ranges) {
    RangeListReader reader(unit, code.ranges);
    while (budget > 0 && reader.next(range)) {
      --budget;
      if (is_code(range) && !visit(range)) return;
    }
    return;
  }
  const auto low = unit.address(code.low);
  if (!low || !code.high) return;
  const bool is_length = code.high.kind == Value::Kind::kNumber;
  range = {*low, is_length ? *low + code.high.number : unit.address(code.high).value_or(0)};
  if (is_code(range)) visit(range);
}

}  // namespace ringside::symbols::dwarf
