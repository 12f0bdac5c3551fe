#include "symbols/dwarf/variables.h"

#include <dwarf.h>

#include "symbols/dwarf/entry_walk.h"

namespace ringside::symbols::dwarf {
namespace {

bool is_wanted(EntryWalk& walk, const Unit& unit, std::string_view name) {
  bool has_name = false;
  bool has_type = false;
  walk.for_each_attribute([&](std::uint16_t attribute, const Value& value) {
    if (attribute == DW_AT_name) has_name = unit.string(value) == name;
    if (attribute == DW_AT_type) has_type = true;
  });
  return has_name && has_type;
}

std::optional<std::uint64_t> find_in(const Unit& unit, std::string_view name) {
  EntryWalk walk(unit, unit.header.root);
  while (const Abbrev* const abbrev = walk.next()) {
    switch (abbrev->tag) {
      case DW_TAG_compile_unit:
      case DW_TAG_partial_unit:
      case DW_TAG_namespace:
        break;
      case DW_TAG_variable:
        if (is_wanted(walk, unit, name)) return walk.entry();
        [[fallthrough]];
      default:
        walk.skip_children();
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<EntryPlace> find_variable(DebugFile& file, std::string_view name) {
  for (const UnitHeader& header : file.headers()) {
    const auto state = file.unit(header.offset);
    const auto entry = state ? find_in(*state->unit, name) : std::nullopt;
    file.limit_memory();
    if (entry) return EntryPlace{&file, *entry};
  }
  return std::nullopt;
}

}  // namespace ringside::symbols::dwarf
