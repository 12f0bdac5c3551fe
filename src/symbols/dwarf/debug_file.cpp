#include "symbols/dwarf/debug_file.h"

#include <dwarf.h>

#include <algorithm>

namespace ringside::symbols::dwarf {
namespace {

// Limit on the memory of one file's units. All 2,172 units of Debian's cloud kernel, with all their
// lines, take 90 MB.
constexpr std::size_t kMemoryLimit = 96 << 20;

constexpr unsigned kCheckEvery = 64;  // units, between two looks at the memory

constexpr std::uint32_t kIs64 = 0xffffffff;  // DWARF 5, section 7.4

struct ArangesSet {
  std::uint64_t unit = 0;
  std::uint64_t end = 0;
  std::uint8_t address_size = 0;
};

// The header of a set of .debug_aranges (DWARF 5, section 6.1.2), with the cursor moved to the
// first pair. Nothing at the end of what can be read; an address size of 0 where only this set
// cannot.
std::optional<ArangesSet> read_set(ByteCursor& cursor) {
  const std::uint64_t start = cursor.offset();
  std::size_t offset_size = 4;
  std::uint64_t length = cursor.read<std::uint32_t>();
  if (length == kIs64) {
    offset_size = 8;
    length = cursor.read<std::uint64_t>();
  }
  if (cursor.failed() || length > cursor.remaining()) return std::nullopt;
  ArangesSet set;
  set.end = cursor.offset() + length;
  const auto version = cursor.read<std::uint16_t>();
  set.unit = cursor.read_unsigned(offset_size);
  set.address_size = cursor.read<std::uint8_t>();
  const auto segment_size = cursor.read<std::uint8_t>();
  if (version != 2 || segment_size != 0 || (set.address_size != 4 && set.address_size != 8))
    set.address_size = 0;
  const std::size_t tuple = 2u * set.address_size;
  if (tuple != 0) cursor.seek(start + (cursor.offset() - start + tuple - 1) / tuple * tuple);
  return set;
}

}  // namespace

std::size_t UnitState::memory() const {
  // The abbreviations are shared by units in files that dwz made, and then counted too often.
  return sizeof(UnitState) + sizeof(Unit) + (unit ? unit->abbrevs->memory() : 0) +
         (lines ? lines->memory() : 0) + functions.capacity() * sizeof(FunctionRange);
}

DebugFile::DebugFile(std::shared_ptr<const elf::ElfFile> file, std::string_view suffix)
    : file_(std::move(file)), sections_(read_sections(*file_, suffix)) {}

void DebugFile::read_aranges() {
  aranges_read_ = true;
  ByteCursor cursor(sections_.aranges);
  aranges_.reserve(sections_.aranges.size() / 16);
  while (!cursor.empty()) {
    const auto set = read_set(cursor);
    if (!set) break;
    if (set->address_size != 0) units_in_aranges_.push_back(set->unit);
    while (set->address_size != 0 && cursor.offset() + 2u * set->address_size <= set->end) {
      const std::uint64_t low = cursor.read_unsigned(set->address_size);
      const std::uint64_t size = cursor.read_unsigned(set->address_size);
      // Some producers end a set early, some have empty ranges in the middle.
      if (size != 0 && low + size > low && !sections_.is_removed(low))
        aranges_.push_back({{low, low + size}, set->unit});
    }
    cursor.seek(set->end);
  }
  std::sort(units_in_aranges_.begin(), units_in_aranges_.end());
  std::stable_sort(aranges_.begin(), aranges_.end(), [](const CodeRange& a, const CodeRange& b) {
    return a.range.low < b.range.low;
  });
}

void DebugFile::add_other_units() {
  others_read_ = true;
  RangeBudget budget = kRangeBudget;
  for (const UnitHeader& header : headers()) {
    if (header.type != DW_UT_compile && header.type != DW_UT_skeleton) continue;
    if (std::binary_search(units_in_aranges_.begin(), units_in_aranges_.end(), header.offset))
      continue;
    const auto state = unit(header.offset);
    if (!state) continue;
    CodeAttributes code;
    code.ranges = state->unit->ranges;
    code.low = {Value::Kind::kAddress, state->unit->low_pc, {}};
    code.high = {Value::Kind::kAddress, state->unit->high_pc, {}};
    const auto add = [&](const AddressRange& range) {
      other_ranges_.push_back({range, header.offset});
      return true;
    };
    const std::size_t before = other_ranges_.size();
    for_each_range(*state->unit, code, budget, add);
    // A unit may keep its ranges to itself; its functions have them.
    if (other_ranges_.size() == before && state->unit->dwo_name.empty())
      for (const FunctionRange& function :
           find_functions(*state->unit, false, [](const FunctionRange&) { return true; }))
        add(function.range);
    limit_memory();
  }
  std::stable_sort(
      other_ranges_.begin(), other_ranges_.end(),
      [](const CodeRange& a, const CodeRange& b) { return a.range.low < b.range.low; });
}

bool DebugFile::find(const std::vector<CodeRange>& ranges, std::uint64_t address,
                     std::vector<std::uint64_t>& units) {
  auto after = std::upper_bound(
      ranges.begin(), ranges.end(), address,
      [](std::uint64_t at, const CodeRange& candidate) { return at < candidate.range.low; });
  // Ranges may lie over others: a few are examined.
  for (int i = 0; i < 16 && after != ranges.begin(); ++i) {
    --after;
    if (may_be_removed(after->range.low)) break;
    if (!after->range.contains(address)) continue;
    units = {after->unit};
    return true;
  }
  for (auto at = ranges.begin(); at != ranges.end() && may_be_removed(at->range.low); ++at)
    if (at->range.contains(address)) units.push_back(at->unit);
  return false;
}

std::vector<std::uint64_t> DebugFile::units_of_address(std::uint64_t address) {
  std::vector<std::uint64_t> units;
  if (!aranges_read_) read_aranges();
  if (find(aranges_, address, units)) return units;
  if (!others_read_) add_other_units();
  (void)find(other_ranges_, address, units);
  return units;
}

const std::vector<UnitHeader>& DebugFile::headers() {
  if (headers_read_) return headers_;
  headers_read_ = true;
  for (std::uint64_t offset = 0; offset < sections_.info.size();) {
    UnitHeader header;
    const bool good = read_unit_header(sections_.info, offset, header).has_value();
    if (header.end <= offset) break;
    if (good) headers_.push_back(header);
    offset = header.end;
  }
  return headers_;
}

std::shared_ptr<UnitState> DebugFile::unit(std::uint64_t offset) {
  const auto [entry, is_new] = units_.try_emplace(offset);
  if (is_new) {
    entry->second = std::make_shared<UnitState>();
    if (auto read = read_unit(sections_, offset, last_abbrevs_)) {
      last_abbrevs_ = (*read)->abbrevs;
      entry->second->unit = std::move(*read);
    }
    ++new_units_;
  }
  entry->second->used = ++clock_;
  return entry->second->unit ? entry->second : nullptr;
}

std::shared_ptr<UnitState> DebugFile::unit_of_entry(std::uint64_t entry) {
  const std::vector<UnitHeader>& all = headers();
  const auto after =
      std::upper_bound(all.begin(), all.end(), entry,
                       [](std::uint64_t at, const UnitHeader& unit) { return at < unit.offset; });
  if (after == all.begin() || entry >= std::prev(after)->end) return nullptr;
  return unit(std::prev(after)->offset);
}

void DebugFile::limit_memory() {
  if (new_units_ < kCheckEvery) return;
  new_units_ = 0;
  std::size_t total = 0;
  for (const auto& [offset, state] : units_) total += state->memory();
  if (total <= kMemoryLimit) return;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> by_use;
  for (const auto& [offset, state] : units_) by_use.emplace_back(state->used, offset);
  std::sort(by_use.begin(), by_use.end());
  for (const auto& [used, offset] : by_use) {
    if (total <= kMemoryLimit / 4 * 3) break;
    const auto found = units_.find(offset);
    total -= found->second->memory();
    units_.erase(found);
  }
}

}  // namespace ringside::symbols::dwarf
