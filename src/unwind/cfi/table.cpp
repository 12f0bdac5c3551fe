#include "unwind/cfi/table.h"

#include <algorithm>
#include <limits>

#include "arch/arch_info.h"
#include "unwind/cfi/program.h"

namespace ringside::unwind::cfi {

Table::Table(std::shared_ptr<const elf::ElfFile> file, const arch::ArchInfo& platform)
    : file_(std::move(file)), platform_(platform) {
  if (const auto section = file_->section(".eh_frame")) add(*section, SectionKind::kEhFrame);
  if (const auto section = file_->section(".debug_frame")) add(*section, SectionKind::kDebugFrame);
}

void Table::add(const elf::Section& source, SectionKind kind) {
  auto indexed = std::make_unique<Indexed>();
  indexed->section = {.bytes = source.bytes,
                      .address = source.address,
                      .kind = kind,
                      .address_size = static_cast<std::uint8_t>(file_->is_64() ? 8 : 4)};
  const FrameSection& section = indexed->section;
  std::size_t cie_offset = std::numeric_limits<std::size_t>::max();
  Result<Cie> cie = fail(ErrorCode::kNotFound, "no CIE");
  for (std::size_t at = 0;
       at < section.bytes.size() && at <= std::numeric_limits<std::uint32_t>::max();) {
    const auto head = read_head(section, at);
    if (!head) {
      // .eh_frame of several files joined: a terminator may be followed by more.
      if (head.error().code != ErrorCode::kNotFound) break;
      at += 4;
      continue;
    }
    const std::size_t offset = at;
    at = head->next;
    if (head->is_cie) continue;
    if (head->cie != cie_offset) {
      cie_offset = head->cie;
      cie = read_cie(section, cie_offset);
    }
    if (!cie) continue;
    const auto fde = read_fde(section, *head, *cie);
    // Entries of functions that the linker dropped have their start resolved to 0.
    constexpr std::uint64_t kLongest = std::numeric_limits<std::uint32_t>::max();
    if (!fde || fde->length == 0 || fde->length > kLongest || !file_->is_code(fde->start)) continue;
    indexed->entries.push_back(
        {fde->start, static_cast<std::uint32_t>(fde->length), static_cast<std::uint32_t>(offset)});
  }
  std::stable_sort(indexed->entries.begin(), indexed->entries.end(),
                   [](const Entry& a, const Entry& b) { return a.start < b.start; });
  if (!indexed->entries.empty()) sections_.push_back(std::move(indexed));
}

Table::Entry* Table::entry_at(Indexed& indexed, ImageAddr pc) {
  auto after = std::upper_bound(indexed.entries.begin(), indexed.entries.end(), pc,
                                [](ImageAddr at, const Entry& entry) { return at < entry.start; });
  for (int i = 0; i < 4 && after != indexed.entries.begin(); ++i) {
    --after;
    if (pc - after->start < after->length) return &*after;
  }
  return nullptr;
}

void Table::compile(const FrameSection& section, Entry& entry) {
  const std::size_t first = row_starts_.size();
  entry.first_row = static_cast<std::uint32_t>(first);
  const auto head = read_head(section, entry.offset);
  if (!head) return;
  const auto cie = read_cie(section, head->cie);
  if (!cie) return;
  const auto fde = read_fde(section, *head, *cie);
  if (!fde) return;
  (void)for_each_row(section, *cie, *fde, platform_, [&](ImageAddr start, const Rule& rule) {
    const std::uint64_t offset = start - entry.start;
    if (offset >= entry.length || (row_starts_.size() > first && offset <= row_starts_.back()))
      return;
    const CompactRule compacted = compact(rule, platform_);
    const bool slow = compacted.kind == CompactRule::Kind::kSlow;
    row_starts_.push_back(static_cast<std::uint32_t>(offset));
    row_rules_.push_back(slow ? kSlowRow : rules_.add(compacted).value_or(kSlowRow));
  });
  entry.rows = static_cast<std::uint32_t>(row_starts_.size() - first);
}

CompactRule Table::find_compact(ImageAddr pc) {
  for (const auto& indexed : sections_) {
    Entry* entry = entry_at(*indexed, pc);
    if (entry == nullptr) continue;
    if (entry->first_row == kNotCompiled) compile(indexed->section, *entry);
    const auto begin = row_starts_.begin() + entry->first_row;
    const auto after = std::upper_bound(begin, begin + entry->rows, pc - entry->start);
    if (after == begin) continue;
    const std::uint16_t number =
        row_rules_[static_cast<std::size_t>(after - row_starts_.begin()) - 1];
    if (number == kSlowRow) return {.kind = CompactRule::Kind::kSlow};
    return rules_[number];
  }
  return {};
}

std::optional<Table::Found> Table::find(ImageAddr pc) const {
  for (const auto& indexed : sections_) {
    const Entry* entry = entry_at(*indexed, pc);
    if (entry == nullptr) continue;
    const auto head = read_head(indexed->section, entry->offset);
    if (!head) continue;
    const auto cie = read_cie(indexed->section, head->cie);
    if (!cie) continue;
    const auto fde = read_fde(indexed->section, *head, *cie);
    if (!fde) continue;
    if (const auto rule = rule_for(indexed->section, *cie, *fde, pc, platform_))
      return Found{*rule, &indexed->section};
  }
  return std::nullopt;
}

std::vector<Table::Function> Table::functions() const {
  std::vector<Function> functions;
  for (const auto& indexed : sections_)
    for (const Entry& entry : indexed->entries) functions.push_back({entry.start, entry.length});
  return functions;
}

Table::Size Table::size() const {
  Size size{.rows = row_starts_.size(), .rules = rules_.size()};
  size.bytes = size.rows * (sizeof(row_starts_[0]) + sizeof(row_rules_[0])) +
               size.rules * sizeof(CompactRule);
  for (const auto& indexed : sections_) size.functions += indexed->entries.size();
  size.bytes_of_index = size.functions * sizeof(Entry);
  return size;
}

}  // namespace ringside::unwind::cfi
