#include "symbols/dwarf/dwarf_symbols.h"

#include <dwarf.h>

#include <algorithm>

#include "symbols/dwarf/entry_walk.h"
#include "symbols/dwarf/split_unit.h"

namespace ringside::symbols {

using dwarf::DebugFile;
using dwarf::EntryWalk;
using dwarf::FunctionRange;
using dwarf::LineTable;
using dwarf::Scope;
using dwarf::Unit;
using dwarf::UnitState;
using dwarf::Value;

namespace {

// From an inlined call to its abstract instance, from there to its declaration; no real chain of
// such references is longer.
constexpr int kMaxReferences = 16;

constexpr std::uint32_t narrow(std::uint64_t value) {
  return value <= 0xffffffff ? static_cast<std::uint32_t>(value) : 0;
}

const LineTable* lines_of(UnitState& state) {
  if (!state.lines_read) {
    state.lines_read = true;
    const Unit& unit = *state.unit;
    if (unit.line_offset) state.lines = LineTable::parse(unit, *unit.line_offset);
  }
  return state.lines.get();
}

void set_line(SourceFrame& frame, const LineTable& lines, std::uint64_t address,
              const FunctionRange* function) {
  const std::uint64_t end = function == nullptr ? 0 : function->range.high;
  const LineTable::Row* row = lines.find(address, end);
  if (row == nullptr) return;
  frame.file = lines.file_name(row->file);
  frame.line = row->line;
  frame.column = row->column;
}

}  // namespace

std::unique_ptr<DwarfSymbols> DwarfSymbols::from_elf(std::shared_ptr<const elf::ElfFile> file,
                                                     std::shared_ptr<SupplementaryFiles> files) {
  std::unique_ptr<DwarfSymbols> symbols(new DwarfSymbols(std::move(file), std::move(files)));
  return symbols->main_.sections().info.empty() ? nullptr : std::move(symbols);
}

std::vector<SourceFrame> DwarfSymbols::lookup(ImageAddr address) {
  std::vector<SourceFrame> frames;
  for (const std::uint64_t unit : main_.units_of_address(address.value)) {
    frames = lookup(unit, address.value);
    if (!frames.empty()) break;
  }
  main_.limit_memory();
  return frames;
}

std::vector<SourceFrame> DwarfSymbols::lookup(std::uint64_t offset, std::uint64_t address) {
  const auto unit = main_.unit(offset);
  if (!unit) return {};
  // Lines stay with the unit in the program; the rest may be in a file of its own.
  Place place{unit, &main_};
  if (!unit->unit->dwo_name.empty())
    if (auto split = split_unit(*unit->unit)) place = {std::move(split), nullptr};
  std::vector<Scope> scopes;
  const FunctionRange* function = find_function(place, address);
  if (function != nullptr)
    scopes = dwarf::find_scopes(*place.state->unit, function->entry, address);

  const LineTable* lines = lines_of(*unit);
  std::vector<SourceFrame> frames(std::max<std::size_t>(scopes.size(), 1));
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    SourceFrame& frame = frames[i];
    frame.function = name_of(place, scopes[i].entry);
    frame.inlined = i + 1 < scopes.size();
    if (i == 0) continue;
    const Scope& callee = scopes[i - 1];
    frame.line = narrow(callee.call_line);
    frame.column = narrow(callee.call_column);
    if (lines != nullptr) frame.file = lines->file_name(callee.call_file);
  }
  if (lines != nullptr) set_line(frames[0], *lines, address, function);
  const bool says_nothing = scopes.empty() && frames[0].line == 0;
  return says_nothing ? std::vector<SourceFrame>() : frames;
}

// By name and size: many removed functions may claim one address.
bool DwarfSymbols::is_there(const Place& place, const FunctionRange& function) {
  const auto& symbols = main_.file().symbols();
  const std::string_view name = name_of(place, function.entry);
  return std::any_of(symbols.begin(), symbols.end(), [&](const elf::FunctionSymbol& symbol) {
    if (symbol.address.value != function.range.low || symbol.size != function.range.size())
      return false;
    // A compiler's copy of the function: name.constprop.0.
    const std::string_view own = symbol.name;
    return own.starts_with(name) && (own.size() == name.size() || own[name.size()] == '.');
  });
}

const FunctionRange* DwarfSymbols::find_function(const Place& place, std::uint64_t address) {
  UnitState& state = *place.state;
  const auto read = [&](bool thorough) {
    state.functions = dwarf::find_functions(
        *state.unit, thorough,
        [&](const FunctionRange& function) { return is_there(place, function); });
    state.functions_read = true;
    state.functions_thorough = thorough;
  };
  const auto find = [&]() -> const FunctionRange* {
    const auto after =
        std::upper_bound(state.functions.begin(), state.functions.end(), address,
                         [](std::uint64_t at, const FunctionRange& f) { return at < f.range.low; });
    if (after == state.functions.begin()) return nullptr;
    const FunctionRange& before = *std::prev(after);
    return before.range.contains(address) ? &before : nullptr;
  };
  if (!state.functions_read) read(false);
  const FunctionRange* found = find();
  if (found != nullptr || state.functions_thorough) return found;
  read(true);
  return find();
}

std::string_view DwarfSymbols::string(const Place& place, const Value& value) {
  if (value.kind != Value::Kind::kAltString) return place.state->unit->string(value);
  DebugFile* other = alternate();
  return other == nullptr ? std::string_view()
                          : dwarf::string_at(other->sections().str, value.number);
}

std::string_view DwarfSymbols::name_of(Place place, std::uint64_t entry) {
  std::string_view name;
  for (int i = 0; i < kMaxReferences; ++i) {
    EntryWalk walk(*place.state->unit, entry);
    if (walk.next() == nullptr) return name;
    std::string_view linkage_name;
    Value origin;
    walk.for_each_attribute([&](std::uint16_t attribute, const Value& value) {
      if (attribute == DW_AT_linkage_name || attribute == DW_AT_MIPS_linkage_name)
        linkage_name = string(place, value);
      else if (attribute == DW_AT_name && name.empty())
        name = string(place, value);
      else if (attribute == DW_AT_abstract_origin || attribute == DW_AT_specification)
        origin = value;
    });
    if (!linkage_name.empty()) return linkage_name;
    if (origin.kind == Value::Kind::kAltRef) {
      place.file = alternate();
      entry = origin.number;
    } else if (const auto target = place.state->unit->reference(origin)) {
      entry = *target;
    } else {
      return name;
    }
    const dwarf::UnitHeader& header = place.state->unit->header;
    if (origin.kind != Value::Kind::kAltRef && entry >= header.root && entry < header.end) continue;
    if (place.file == nullptr) return name;
    place.state = place.file->unit_of_entry(entry);
    if (!place.state) return name;
  }
  return name;
}

DebugFile* DwarfSymbols::alternate() {
  if (!alternate_read_ && files_) {
    alternate_read_ = true;
    if (auto file = files_->alternate(main_.file()))
      alternate_ = std::make_unique<DebugFile>(std::move(file));
  }
  return alternate_.get();
}

std::shared_ptr<UnitState> DwarfSymbols::split_unit(const Unit& skeleton) {
  if (!files_) return nullptr;
  const auto [entry, is_new] = splits_.try_emplace(skeleton.header.offset);
  if (is_new) entry->second = read_split(skeleton);
  return entry->second;
}

std::shared_ptr<UnitState> DwarfSymbols::read_split(const Unit& skeleton) {
  if (!package_read_) package_ = files_->package(main_.file());
  package_read_ = true;
  const auto read = [&](const std::shared_ptr<const elf::ElfFile>& file) {
    std::shared_ptr<UnitState> state;
    auto unit = file ? dwarf::read_split_unit(*file, skeleton) : nullptr;
    if (!unit) return state;
    state = std::make_shared<UnitState>();
    state->unit = std::move(unit);
    state->file = file;
    return state;
  };
  if (auto state = read(package_)) return state;
  return read(files_->split(main_.file(), skeleton.comp_dir, skeleton.dwo_name));
}

}  // namespace ringside::symbols
