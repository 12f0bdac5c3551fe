#include "unwind/cfi/table.h"

#include <algorithm>
#include <limits>

#include "unwind/cfi/program.h"

namespace ringside::unwind::cfi {

Table::Table(std::shared_ptr<const elf::ElfFile> file) : file_(std::move(file)) {
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
    if (!fde || fde->length == 0 || !file_->is_code(fde->start)) continue;
    indexed->entries.push_back({fde->start, fde->length, static_cast<std::uint32_t>(offset)});
  }
  std::stable_sort(indexed->entries.begin(), indexed->entries.end(),
                   [](const Entry& a, const Entry& b) { return a.start < b.start; });
  if (!indexed->entries.empty()) sections_.push_back(std::move(indexed));
}

const Table::Entry* Table::entry_at(const Indexed& indexed, ImageAddr pc) {
  auto after = std::upper_bound(indexed.entries.begin(), indexed.entries.end(), pc,
                                [](ImageAddr at, const Entry& entry) { return at < entry.start; });
  for (int i = 0; i < 4 && after != indexed.entries.begin(); ++i) {
    --after;
    if (pc - after->start < after->length) return &*after;
  }
  return nullptr;
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
    if (const auto rule = rule_for(indexed->section, *cie, *fde, pc))
      return Found{*rule, &indexed->section};
  }
  return std::nullopt;
}

std::size_t Table::size() const {
  std::size_t count = 0;
  for (const auto& indexed : sections_) count += indexed->entries.size();
  return count;
}

}  // namespace ringside::unwind::cfi
