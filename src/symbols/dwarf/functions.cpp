#include "symbols/dwarf/functions.h"

#include <dwarf.h>

#include <algorithm>
#include <map>

#include "symbols/dwarf/entry_walk.h"

namespace ringside::symbols::dwarf {
namespace {

// Languages in which functions stand at the unit's top level only, but for GNU C's nested ones.
bool is_flat(std::uint64_t language) {
  switch (language) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
      return true;
    default:
      return false;
  }
}

bool may_hold_functions(std::uint16_t tag, bool flat) {
  switch (tag) {
    case DW_TAG_compile_unit:
    case DW_TAG_partial_unit:
    case DW_TAG_skeleton_unit:  // clang keeps inlined calls there too
    case DW_TAG_namespace:
    case DW_TAG_module:
      return true;
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type:  // Rust's
    case DW_TAG_variant_part:
      return !flat;
    default:
      return false;
  }
}

// Ranges that may overlap, of which a later one covers an earlier one.
std::vector<FunctionRange> without_overlaps(const std::vector<FunctionRange>& all) {
  struct Piece {
    std::uint64_t high;
    std::uint64_t entry;
  };
  std::map<std::uint64_t, Piece> pieces;  // by low
  for (const FunctionRange& function : all) {
    const auto [low, high] = function.range;
    auto at = pieces.lower_bound(low);
    if (at != pieces.begin() && std::prev(at)->second.high > low) {
      const auto before = std::prev(at);
      const Piece whole = before->second;
      before->second.high = low;
      if (whole.high > high) at = pieces.insert({high, whole}).first;
    }
    while (at != pieces.end() && at->first < high) {
      const Piece covered = at->second;
      at = pieces.erase(at);
      if (covered.high > high) at = pieces.insert({high, covered}).first;
    }
    pieces[low] = {high, function.entry};
  }
  std::vector<FunctionRange> result;
  result.reserve(pieces.size());
  for (const auto& [low, piece] : pieces) result.push_back({{low, piece.high}, piece.entry});
  return result;
}

bool overlap(const std::vector<FunctionRange>& sorted) {
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].range.low < sorted[i - 1].range.high) return true;
  return false;
}

}  // namespace

std::vector<FunctionRange> find_functions(
    const Unit& unit, bool thorough, const std::function<bool(const FunctionRange&)>& is_there) {
  const bool flat = is_flat(unit.language) && !thorough;
  std::vector<FunctionRange> functions;
  RangeBudget budget = kRangeBudget;
  EntryWalk walk(unit, unit.header.root);
  while (const Abbrev* abbrev = walk.next()) {
    if (abbrev->tag == DW_TAG_subprogram && abbrev->has_code) {
      CodeAttributes code;
      walk.for_each_attribute(
          [&](std::uint16_t name, const Value& value) { code.take(name, value); });
      for_each_range(unit, code, budget, [&](const AddressRange& range) {
        const FunctionRange function{range, walk.entry()};
        if (!may_be_removed(range.low) || is_there(function)) functions.push_back(function);
        return true;
      });
    }
    if (!may_hold_functions(abbrev->tag, flat)) walk.skip_children();
  }
  std::vector<FunctionRange> sorted = functions;
  std::sort(sorted.begin(), sorted.end(), [](const FunctionRange& a, const FunctionRange& b) {
    return a.range.low < b.range.low;
  });
  return overlap(sorted) ? without_overlaps(functions) : sorted;
}

namespace {

constexpr std::size_t kMaxInlineDepth = 1000;  // compilers stay below 100

struct Attributes {
  CodeAttributes code;
  Scope scope;
};

Attributes read_inlined(EntryWalk& walk) {
  Attributes result;
  result.scope.entry = walk.entry();
  walk.for_each_attribute([&](std::uint16_t name, const Value& value) {
    if (result.code.take(name, value)) return;
    if (name == DW_AT_call_file) result.scope.call_file = value.number;
    if (name == DW_AT_call_line) result.scope.call_line = value.number;
    if (name == DW_AT_call_column) result.scope.call_column = value.number;
  });
  return result;
}

}  // namespace

std::vector<Scope> find_scopes(const Unit& unit, std::uint64_t entry, std::uint64_t address) {
  // Those inlined at the address that the walk has met, each with the one it stands in; the last
  // one met is the innermost, for an entry stands before what is inlined into it.
  struct Node {
    Scope scope;
    std::uint64_t depth;
    std::size_t parent;
  };
  std::vector<Node> nodes{{{entry, 0, 0, 0}, 0, 0}};
  std::size_t current = 0;
  RangeBudget budget = kRangeBudget;
  EntryWalk walk(unit, entry);
  if (walk.next() == nullptr) return {nodes[0].scope};
  while (const Abbrev* abbrev = walk.next()) {
    while (current != 0 && nodes[current].depth >= walk.depth()) current = nodes[current].parent;
    switch (abbrev->tag) {
      case DW_TAG_inlined_subroutine: {
        const Attributes inlined = read_inlined(walk);
        bool here = false;
        for_each_range(unit, inlined.code, budget, [&](const AddressRange& range) {
          here = range.contains(address);
          return !here;
        });
        if (here) {
          nodes.push_back({inlined.scope, walk.depth(), current});
          current = nodes.size() - 1;
        } else {
          walk.skip_children();
        }
        break;
      }
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
        break;
      default:
        walk.skip_children();
    }
  }
  std::vector<Scope> chain;
  for (std::size_t node = nodes.size() - 1; node != 0 && chain.size() < kMaxInlineDepth;
       node = nodes[node].parent)
    chain.push_back(nodes[node].scope);
  chain.push_back(nodes[0].scope);
  return chain;
}

}  // namespace ringside::symbols::dwarf
