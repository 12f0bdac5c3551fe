#include "unwind/orc/table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>

#include "arch/arch_info.h"
#include "base/little_endian.h"

namespace ringside::unwind::orc {
namespace {

constexpr std::size_t kIpSize = 4;
constexpr std::size_t kEntrySize = 6;

struct Row {
  std::uint64_t address;
  std::uint64_t raw;
};

std::uint64_t raw_entry(Bytes entries, std::size_t row) {
  return load_unsigned(entries, row * kEntrySize, kEntrySize);
}

std::vector<Row> read_rows(const Sections& sections) {
  std::vector<Row> rows(sections.ip.size() / kIpSize);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto relative = load<std::int32_t>(sections.ip, i * kIpSize);
    const ImageAddr place = sections.address + i * kIpSize;
    rows[i] = {place.value + static_cast<std::uint64_t>(std::int64_t{relative}),
               raw_entry(sections.entries, i)};
  }
  const auto by_address = [](const Row& a, const Row& b) { return a.address < b.address; };
  if (!std::is_sorted(rows.begin(), rows.end(), by_address))
    std::stable_sort(rows.begin(), rows.end(), by_address);
  return rows;
}

// Bit 11 of the flags is the end in 6.3, and was not used before.
Format format_of(const Sections& sections) {
  if (sections.has_header) return Format::kTypes;
  for (std::size_t i = 0; i < sections.entries.size() / kEntrySize; ++i)
    if ((raw_entry(sections.entries, i) >> 43 & 1) != 0) return Format::kSignalAndEndBits;
  return Format::kEndBit;
}

// Numbers of raw entries that were met. Few are different, and the same ones come again and again.
class Numbers {
 public:
  // Gives a new entry the number `next`; second: whether it is new.
  std::pair<std::uint16_t, bool> add(std::uint64_t raw, std::uint16_t next) {
    Recent& recent = recent_[raw * kMultiplier >> (64 - kRecentBits)];
    if (recent.is_set && recent.raw == raw) return {recent.number, false};
    const auto [found, added] = all_.try_emplace(raw, next);
    recent = {raw, found->second, true};
    return {found->second, added};
  }

 private:
  static constexpr unsigned kRecentBits = 10;
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio

  struct Recent {
    std::uint64_t raw = 0;
    std::uint16_t number = 0;
    bool is_set = false;
  };
  std::array<Recent, std::size_t{1} << kRecentBits> recent_{};
  std::unordered_map<std::uint64_t, std::uint16_t> all_;
};

}  // namespace

Result<Table> Table::make(const Sections& sections) {
  if (sections.ip.empty() || sections.ip.size() % kIpSize != 0 ||
      sections.entries.size() != sections.ip.size() / kIpSize * kEntrySize)
    return fail(ErrorCode::kFormat,
                ".orc_unwind_ip has {} bytes and .orc_unwind {}: they do not belong together",
                sections.ip.size(), sections.entries.size());
  Table table;
  table.format_ = format_of(sections);
  const std::vector<Row> rows = read_rows(sections);
  table.entries_ = rows.size();
  table.base_ = {rows.front().address};
  table.starts_.reserve(rows.size());
  table.numbers_.reserve(rows.size());
  Numbers numbers;
  for (const Row& row : rows) {
    const std::uint64_t offset = row.address - table.base_.value;
    if (offset > std::numeric_limits<std::uint32_t>::max()) break;
    const auto [number, is_new] =
        numbers.add(row.raw, static_cast<std::uint16_t>(table.rules_.size()));
    if (is_new) {
      if (table.rules_.size() > std::numeric_limits<std::uint16_t>::max())
        return fail(ErrorCode::kFormat, ".orc_unwind has more than {} different entries",
                    table.rules_.size());
      const auto rule = rule_of(decode(row.raw, table.format_));
      table.rules_.push_back({rule ? compact(*rule, arch::kX86_64Info) : CompactRule{}, row.raw});
    }
    if (!table.starts_.empty() && table.starts_.back() == offset) {
      // Where two rows have one address, the one that ends the code before it gives way.
      if (table.rules_[number].compact.kind != CompactRule::Kind::kNone)
        table.numbers_.back() = number;
    } else if (table.numbers_.empty() || table.numbers_.back() != number) {
      table.starts_.push_back(static_cast<std::uint32_t>(offset));
      table.numbers_.push_back(number);
    }
  }
  table.starts_.shrink_to_fit();
  table.numbers_.shrink_to_fit();
  return table;
}

std::optional<Table> Table::from_elf(const elf::ElfFile& file) {
  const auto ip = file.section(".orc_unwind_ip");
  const auto entries = file.section(".orc_unwind");
  if (!ip || !entries) return std::nullopt;
  auto table = make({.ip = ip->bytes,
                     .address = ip->address,
                     .entries = entries->bytes,
                     .has_header = file.section(".orc_header").has_value()});
  if (!table) return std::nullopt;
  return std::move(*table);
}

std::optional<std::uint16_t> Table::rule_number(ImageAddr pc) const {
  const std::uint64_t offset = pc - base_;
  if (offset > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  if (after == starts_.begin()) return std::nullopt;
  return numbers_[static_cast<std::size_t>(after - starts_.begin()) - 1];
}

CompactRule Table::find_compact(ImageAddr pc) const {
  const auto number = rule_number(pc);
  return number ? rules_[*number].compact : CompactRule{};
}

std::optional<Rule> Table::find(ImageAddr pc) const {
  const auto number = rule_number(pc);
  if (!number) return std::nullopt;
  return rule_of(decode(rules_[*number].raw, format_));
}

Table::Size Table::size() const {
  return {.entries = entries_,
          .rows = starts_.size(),
          .rules = rules_.size(),
          .bytes = starts_.size() * (sizeof(starts_[0]) + sizeof(numbers_[0])) +
                   rules_.size() * sizeof(Known)};
}

}  // namespace ringside::unwind::orc
