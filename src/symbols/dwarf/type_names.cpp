#include "symbols/dwarf/type_names.h"

#include <dwarf.h>

#include <algorithm>
#include <functional>
#include <string>

#include "symbols/dwarf/entry_walk.h"

namespace ringside::symbols::dwarf {
namespace {

// Compilers put longer names into .debug_str: those that take, with their end, more bytes than an
// offset.
std::size_t longest_in_place(const Unit& unit) { return unit.header.format.offset_size - 1u; }

// A string that ends like this; where linkers share the ends of strings it may be a longer one's.
bool has_string(Bytes section, std::string_view text) {
  const std::string_view all(reinterpret_cast<const char*>(section.data()), section.size());
  const std::string with_end = std::string(text) + '\0';
  return std::search(all.begin(), all.end(),
                     std::boyer_moore_horspool_searcher(with_end.begin(), with_end.end())) !=
         all.end();
}

}  // namespace

TypeNames::TypeNames(DebugFile& file, DebugFile* alternate) : alternate_(alternate) {
  for (DebugFile* const each : {&file, alternate}) {
    if (each == nullptr) continue;
    const std::size_t size = each->sections().str.size();
    searches_.push_back({each, 0, Met(size), Met(size), Met(size)});
  }
}

std::string_view TypeNames::string(const Unit& unit, const Value& value) const {
  if (value.kind != Value::Kind::kAltString) return unit.string(value);
  return alternate_ == nullptr ? std::string_view()
                               : string_at(alternate_->sections().str, value.number);
}

bool TypeNames::may_have(std::string_view name) const {
  if (name.size() <= longest_in_place_ || has_names_in_place_) return true;
  return std::any_of(searches_.begin(), searches_.end(), [name](const Search& search) {
    const Sections& sections = search.file->sections();
    return has_string(sections.str, name) || has_string(sections.line_str, name);
  });
}

template <class Known>
auto TypeNames::search_for(std::string_view name, Known known) {
  auto found = known();
  bool looked = false;
  while (!found) {
    // The first names show whether there are any that a search for text would miss.
    if (!looked && !typedefs_.empty()) {
      looked = true;
      if (!may_have(name)) break;
    }
    if (!read_next_unit()) break;
    found = known();
  }
  return found;
}

std::optional<EntryPlace> TypeNames::find(std::string_view name) {
  return search_for(name, [&]() -> std::optional<EntryPlace> {
    for (const auto* names : {&structs_, &typedefs_})
      if (const auto at = names->find(name); at != names->end()) return at->second;
    return std::nullopt;
  });
}

std::optional<std::int64_t> TypeNames::enumerator(std::string_view name) {
  return search_for(name, [&]() -> std::optional<std::int64_t> {
    const auto at = enumerators_.find(name);
    return at == enumerators_.end() ? std::nullopt : std::optional(at->second);
  });
}

bool TypeNames::read_next_unit() {
  for (Search& search : searches_) {
    const std::vector<UnitHeader>& headers = search.file->headers();
    if (search.next == headers.size()) continue;
    const auto state = search.file->unit(headers[search.next++].offset);
    if (state) read(search, *state->unit);
    search.file->limit_memory();
    return true;
  }
  return false;
}

void TypeNames::read(Search& search, const Unit& unit) {
  longest_in_place_ = std::max(longest_in_place_, longest_in_place(unit));
  EntryWalk walk(unit, unit.header.root);
  const auto read_entry = [&] {
    Entry entry;
    walk.for_each_attribute([&](std::uint16_t attribute, const Value& value) {
      if (attribute == DW_AT_name) entry.name = value;
      if (attribute == DW_AT_declaration) entry.is_declaration = value.number != 0;
      if (attribute == DW_AT_const_value && value.kind == Value::Kind::kNumber)
        entry.value = static_cast<std::int64_t>(value.number);
    });
    return entry;
  };
  const auto take_type = [&](Met& met, std::unordered_map<std::string_view, EntryPlace>& types) {
    const Entry entry = read_entry();
    if (entry.is_declaration) return;
    const std::string_view name = new_name(unit, entry, met);
    if (!name.empty()) types.try_emplace(name, EntryPlace{search.file, walk.entry()});
  };
  while (const Abbrev* abbrev = walk.next()) {
    switch (abbrev->tag) {
      case DW_TAG_compile_unit:
      case DW_TAG_partial_unit:
      case DW_TAG_type_unit:
      case DW_TAG_enumeration_type:
      case DW_TAG_namespace:
        break;
      case DW_TAG_enumerator: {
        const Entry entry = read_entry();
        const std::string_view name = new_name(unit, entry, search.enumerators);
        if (!name.empty() && entry.value) enumerators_.try_emplace(name, *entry.value);
        break;
      }
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
      case DW_TAG_class_type:
        take_type(search.structs, structs_);
        walk.skip_children();
        break;
      case DW_TAG_typedef:
        take_type(search.typedefs, typedefs_);
        break;
      default:
        walk.skip_children();
    }
  }
}

std::string_view TypeNames::new_name(const Unit& unit, const Entry& entry, Met& met) {
  if (entry.name.kind == Value::Kind::kStringOffset && entry.name.number < met.size()) {
    if (met[entry.name.number]) return {};
    met[entry.name.number] = true;
  }
  const std::string_view name = string(unit, entry.name);
  if (entry.name.kind == Value::Kind::kString && name.size() > longest_in_place(unit))
    has_names_in_place_ = true;
  return name;
}

}  // namespace ringside::symbols::dwarf
