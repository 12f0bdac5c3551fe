#include "symbols/dwarf/variables.h"

#include <dwarf.h>

#include <algorithm>
#include <vector>

#include "symbols/dwarf/entry_walk.h"

namespace ringside::symbols::dwarf {
namespace {

using Path = std::vector<std::string_view>;

Path parts_of(std::string_view path) {
  constexpr std::string_view kBetween = "::";
  Path parts;
  for (std::size_t at = path.find(kBetween); at != std::string_view::npos;
       at = path.find(kBetween)) {
    parts.push_back(path.substr(0, at));
    path.remove_prefix(at + kBetween.size());
  }
  parts.push_back(path);
  return parts;
}

struct Named {
  std::string_view name;
  bool has_type = false;
};

Named read_entry(EntryWalk& walk, const Unit& unit, const TypeNames& names) {
  Named entry;
  walk.for_each_attribute([&](std::uint16_t attribute, const Value& value) {
    if (attribute == DW_AT_name) entry.name = names.string(unit, value);
    if (attribute == DW_AT_type) entry.has_type = true;
  });
  return entry;
}

// The path's part at each depth: a unit is at 0.
std::optional<std::uint64_t> find_in(const Unit& unit, const TypeNames& names, const Path& path) {
  EntryWalk walk(unit, unit.header.root);
  while (const Abbrev* const abbrev = walk.next()) {
    const std::uint64_t depth = walk.depth();
    if (depth == 0) continue;
    const bool is_last = depth == path.size();
    if (abbrev->tag == (is_last ? DW_TAG_variable : DW_TAG_namespace)) {
      const Named entry = read_entry(walk, unit, names);
      const bool is_right = entry.name == path[depth - 1];
      if (is_last && is_right && entry.has_type) return walk.entry();
      if (!is_last && is_right) continue;
    }
    walk.skip_children();
  }
  return std::nullopt;
}

}  // namespace

std::optional<EntryPlace> find_variable(DebugFile& file, const TypeNames& names,
                                        std::string_view path) {
  const Path parts = parts_of(path);
  for (const UnitHeader& header : file.headers()) {
    const auto state = file.unit(header.offset);
    const auto entry = state ? find_in(*state->unit, names, parts) : std::nullopt;
    file.limit_memory();
    if (entry) return EntryPlace{&file, *entry};
  }
  return std::nullopt;
}

}  // namespace ringside::symbols::dwarf
