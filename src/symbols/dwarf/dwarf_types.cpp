#include "symbols/dwarf/dwarf_types.h"

#include <dwarf.h>

#include <algorithm>

#include "symbols/dwarf/entry_walk.h"
#include "symbols/dwarf/variables.h"

namespace ringside::symbols {

using dwarf::Abbrev;
using dwarf::DebugFile;
using dwarf::EntryPlace;
using dwarf::EntryWalk;
using dwarf::Unit;
using dwarf::UnitHeader;
using dwarf::UnitState;
using dwarf::Value;

namespace {

constexpr unsigned kMaxDepth = 32;  // of nested unnamed members, of typedefs of typedefs
// Limit on a question's cost: bytes that are gone through, and attributes, which can have no bytes.
// A member of a struct is some 20 of them.
constexpr std::uint64_t kMaxCost = 4 << 20;
// Cost of a name that is looked for among all: some structs may only be declared where they are
// used.
constexpr std::uint64_t kCostOfSearch = kMaxCost / 64;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;  // of a type

bool is_aggregate(std::uint16_t tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

// Whether a type with this tag stands for another type.
bool is_alias(std::uint16_t tag) {
  switch (tag) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
      return true;
    default:
      return false;
  }
}

// DW_AT_data_member_location: a number of bytes, or, before DWARF 4, the operation that adds them.
std::optional<std::uint64_t> location(const Value& value) {
  if (value.kind == Value::Kind::kNumber) return value.number;
  ByteCursor expression(as_bytes(value.text));
  if (value.kind != Value::Kind::kOther || expression.read<std::uint8_t>() != DW_OP_plus_uconst)
    return std::nullopt;
  const std::uint64_t bytes = expression.read_uleb();
  return expression.failed() || !expression.empty() ? std::nullopt : std::optional(bytes);
}

}  // namespace

// An entry of a type, with what matters of its attributes.
struct DwarfTypes::Entry {
  EntryPlace place;
  std::shared_ptr<UnitState> unit;
  std::uint16_t tag = 0;
  std::string_view name;
  Value type;
  std::optional<std::uint64_t> size;
  bool is_declaration = false;
};

std::unique_ptr<DwarfTypes> DwarfTypes::from_elf(std::shared_ptr<const elf::ElfFile> file,
                                                 std::shared_ptr<SupplementaryFiles> files) {
  std::unique_ptr<DwarfTypes> types(new DwarfTypes(std::move(file)));
  if (types->main_->sections().info.empty()) return nullptr;
  if (auto other = files ? files->alternate(types->main_->file()) : nullptr)
    types->alternate_ = std::make_unique<DebugFile>(std::move(other));
  types->names_ = std::make_unique<dwarf::TypeNames>(*types->main_, types->alternate_.get());
  return types;
}

bool DwarfTypes::spend(std::uint64_t cost) {
  budget_ -= std::min(budget_, cost);
  return budget_ != 0;
}

std::optional<DwarfTypes::Entry> DwarfTypes::read(const EntryPlace& place) {
  Entry entry;
  entry.place = place;
  entry.unit = place.file->unit_of_entry(place.entry);
  if (!entry.unit) return std::nullopt;
  const Unit& unit = *entry.unit->unit;
  EntryWalk walk(unit, place.entry);
  const Abbrev* const abbrev = walk.next();
  if (abbrev == nullptr) return std::nullopt;
  entry.tag = abbrev->tag;
  walk.for_each_attribute([&](std::uint16_t attribute, const Value& value) {
    if (attribute == DW_AT_name) entry.name = names_->string(unit, value);
    if (attribute == DW_AT_type) entry.type = value;
    if (attribute == DW_AT_declaration) entry.is_declaration = value.number != 0;
    if (attribute == DW_AT_byte_size && value.kind == Value::Kind::kNumber)
      entry.size = value.number;
  });
  if (!spend(walk.offset() - place.entry + abbrev->attribute_count + entry.name.size()))
    return std::nullopt;
  return entry;
}

std::optional<EntryPlace> DwarfTypes::by_signature(std::uint64_t signature) {
  for (DebugFile* const file : {main_.get(), alternate_.get()}) {
    if (file == nullptr) continue;
    for (const UnitHeader& header : file->headers())
      if (header.type == DW_UT_type && header.signature == signature)
        return EntryPlace{file, header.type_entry};
  }
  return std::nullopt;
}

std::optional<EntryPlace> DwarfTypes::follow(const Entry& from, const Value& reference) {
  if (reference.kind == Value::Kind::kSignature) return by_signature(reference.number);
  if (reference.kind == Value::Kind::kAltRef) {
    if (!alternate_) return std::nullopt;
    return EntryPlace{alternate_.get(), reference.number};
  }
  const auto entry = from.unit->unit->reference(reference);
  return entry ? std::optional(EntryPlace{from.place.file, *entry}) : std::nullopt;
}

std::optional<DwarfTypes::Entry> DwarfTypes::resolve(EntryPlace place) {
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    const auto entry = read(place);
    if (!entry) return std::nullopt;
    if (is_alias(entry->tag)) {
      const auto next = follow(*entry, entry->type);
      if (!next) return std::nullopt;
      place = *next;
    } else if (is_aggregate(entry->tag) && entry->is_declaration) {
      // A typedef of it, say, in a unit that does not look inside.
      if (!spend(kCostOfSearch)) return std::nullopt;
      const auto definition = names_->find(entry->name);
      if (!definition) return std::nullopt;
      place = *definition;
    } else {
      return entry;
    }
  }
  return std::nullopt;
}

// The number of an array's elements. Without bounds, as at the end of a structure, there are none.
std::uint64_t DwarfTypes::count_elements(const Entry& array) {
  EntryWalk walk(*array.unit->unit, array.place.entry);
  if (walk.next() == nullptr) return 0;
  std::uint64_t total = 1;
  std::uint64_t before = walk.offset();
  while (const Abbrev* const abbrev = walk.next()) {
    walk.skip_children();
    if (!spend(walk.offset() - before + abbrev->attribute_count)) return 0;
    before = walk.offset();
    if (abbrev->tag != DW_TAG_subrange_type) continue;
    std::uint64_t count = 0;
    walk.for_each_attribute([&](std::uint16_t attribute, const Value& value) {
      if (value.kind != Value::Kind::kNumber) return;
      if (attribute == DW_AT_count) count = value.number;
      if (attribute == DW_AT_upper_bound) count = value.number + 1;
    });
    if (count != 0 && total > kMostBytes / count) return 0;
    total *= count;
  }
  return total;
}

std::optional<std::uint64_t> DwarfTypes::bytes_of(EntryPlace type) {
  std::uint64_t times = 1;
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    const auto entry = resolve(type);
    if (!entry) return std::nullopt;
    const Unit& unit = *entry->unit->unit;
    if (entry->size) {
      if (*entry->size != 0 && times > kMostBytes / *entry->size) return std::nullopt;
      return times * *entry->size;
    }
    if (entry->tag == DW_TAG_pointer_type) return times * unit.header.format.address_size;
    const auto element = follow(*entry, entry->type);
    if (entry->tag != DW_TAG_array_type || !element) return std::nullopt;
    const std::uint64_t count = count_elements(*entry);
    if (count != 0 && times > kMostBytes / count) return std::nullopt;
    times *= count;
    type = *element;
  }
  return std::nullopt;
}

// `visit` gets a name and a Found for each, and returns true where no other is wanted.
template <class Visit>
void DwarfTypes::visit_members(const Entry& outer, Visit visit) {
  if (!is_aggregate(outer.tag)) return;
  const Unit& unit = *outer.unit->unit;
  EntryWalk walk(unit, outer.place.entry);
  if (walk.next() == nullptr) return;
  std::uint64_t before = walk.offset();
  while (const Abbrev* const abbrev = walk.next()) {
    walk.skip_children();
    if (!spend(walk.offset() - before + abbrev->attribute_count)) return;
    before = walk.offset();
    if (abbrev->tag != DW_TAG_member) continue;
    std::string_view name;
    Value type;
    Found found;
    bool is_placed = true;
    walk.for_each_attribute([&](std::uint16_t attribute, const Value& value) {
      if (attribute == DW_AT_name) name = names_->string(unit, value);
      if (attribute == DW_AT_type) type = value;
      if (attribute == DW_AT_bit_size) found.member.is_bit_field = true;
      if (attribute == DW_AT_data_bit_offset) found.member.offset = value.number / 8;
      if (attribute != DW_AT_data_member_location) return;
      const auto at = location(value);
      is_placed = at.has_value();
      found.member.offset = at.value_or(0);
    });
    if (!is_placed || !spend(name.size())) continue;
    found.type = follow(outer, type);
    if (visit(name, found)) return;
  }
  spend(walk.offset() - before);
}

std::optional<DwarfTypes::Found> DwarfTypes::direct_member(const Entry& outer,
                                                           std::string_view name, unsigned depth) {
  if (depth > kMaxDepth) return std::nullopt;
  std::optional<Found> wanted;
  visit_members(outer, [&](std::string_view own_name, const Found& found) {
    if (own_name == name) wanted = found;
    if (wanted || !own_name.empty() || !found.type) return wanted.has_value();
    const auto unnamed = resolve(*found.type);
    if (!unnamed) return false;
    wanted = direct_member(*unnamed, name, depth + 1);
    if (wanted) wanted->member.offset += found.member.offset;
    return wanted.has_value();
  });
  return wanted;
}

std::optional<DwarfTypes::Part> DwarfTypes::part(const Entry& outer, std::string_view prefix,
                                                 unsigned depth) {
  if (outer.name.starts_with(prefix)) return Part{outer.place, 0};
  if (depth > kMaxDepth) return std::nullopt;
  std::optional<Part> wanted;
  visit_members(outer, [&](std::string_view, const Found& found) {
    const auto inner = found.type ? resolve(*found.type) : std::nullopt;
    if (!inner || !is_aggregate(inner->tag)) return false;
    wanted = part(*inner, prefix, depth + 1);
    if (wanted) wanted->offset += found.member.offset;
    return wanted.has_value();
  });
  return wanted;
}

std::optional<DwarfTypes::Part> DwarfTypes::part_of(const Type& outer, std::string_view prefix) {
  budget_ = kMaxCost;
  const auto entry = resolve(outer);
  return entry && is_aggregate(entry->tag) ? part(*entry, prefix, 0) : std::nullopt;
}

std::optional<DwarfTypes::Type> DwarfTypes::type_of_variable(std::string_view path) {
  budget_ = kMaxCost;
  const auto place = dwarf::find_variable(*main_, *names_, path);
  const auto variable = place ? read(*place) : std::nullopt;
  return variable ? follow(*variable, variable->type) : std::nullopt;
}

std::optional<DwarfTypes::Type> DwarfTypes::type_parameter(const Type& type,
                                                           std::string_view name) {
  budget_ = kMaxCost;
  const auto generic = resolve(type);
  if (!generic) return std::nullopt;
  EntryWalk walk(*generic->unit->unit, generic->place.entry);
  if (walk.next() == nullptr) return std::nullopt;
  while (const Abbrev* const abbrev = walk.next()) {
    walk.skip_children();
    if (!spend(1 + abbrev->attribute_count)) return std::nullopt;
    if (abbrev->tag != DW_TAG_template_type_parameter) continue;
    const auto parameter = read({generic->place.file, walk.entry()});
    if (parameter && parameter->name == name) return follow(*parameter, parameter->type);
  }
  return std::nullopt;
}

std::optional<DwarfTypes::Member> DwarfTypes::member(std::string_view type, std::string_view path) {
  const auto place = names_->find(type);
  return place ? member(*place, path) : std::nullopt;
}

std::optional<DwarfTypes::Member> DwarfTypes::member(const Type& type, std::string_view path) {
  budget_ = kMaxCost;
  Found result;
  result.type = type;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view name = path.substr(0, dot);
    const auto outer = result.type ? resolve(*result.type) : std::nullopt;
    if (!outer || name.empty()) return std::nullopt;
    auto inner = direct_member(*outer, name, 0);
    if (!inner) return std::nullopt;
    inner->member.offset += result.member.offset;
    result = *inner;
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  if (result.type) result.member.size = bytes_of(*result.type).value_or(0);
  return result.member;
}

std::optional<std::uint64_t> DwarfTypes::size_of(std::string_view type) {
  const auto place = names_->find(type);
  return place ? size_of(*place) : std::nullopt;
}

std::optional<std::uint64_t> DwarfTypes::size_of(const Type& type) {
  budget_ = kMaxCost;
  return bytes_of(type);
}

}  // namespace ringside::symbols
