#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "symbols/dwarf/ranges.h"
#include "symbols/dwarf/unit.h"

namespace ringside::symbols::dwarf {

// Code of one DW_TAG_subprogram. A function in several pieces has several.
struct FunctionRange {
  AddressRange range;
  std::uint64_t entry = 0;  // offset in .debug_info
};

// All functions of a unit that have code, by address, without overlaps: where two entries claim an
// address, the later one has it, as in llvm-symbolizer. Passes over types and, where the compiler
// left DW_AT_sibling, over the insides of functions: about 10 ns an entry that is looked at.
// `thorough` looks into C's functions too, for GNU C's nested ones; other languages always. Where
// the code may_be_removed(), a function counts if `is_there` returns true for it.
[[nodiscard]] std::vector<FunctionRange> find_functions(
    const Unit& unit, bool thorough, const std::function<bool(const FunctionRange&)>& is_there);

// A function that stands at an address: the one that was compiled there, or one inlined into it.
struct Scope {
  std::uint64_t entry = 0;  // DW_TAG_subprogram or DW_TAG_inlined_subroutine
  // Where it was called from; nothing for the function itself.
  std::uint64_t call_file = 0;
  std::uint64_t call_line = 0;
  std::uint64_t call_column = 0;
};

// The functions that were inlined at the address, innermost first, then the one at `entry`.
[[nodiscard]] std::vector<Scope> find_scopes(const Unit& unit, std::uint64_t entry,
                                             std::uint64_t address);

}  // namespace ringside::symbols::dwarf
