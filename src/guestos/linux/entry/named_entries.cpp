#include "guestos/linux/entry/named_entries.h"

#include <algorithm>

#include "elf/symbol_extent.h"

namespace ringside::guestos {

std::vector<unwind::TrapFrameLayout> named_entries(const elf::Image& kernel,
                                                   const unwind::TrapFrameLayout& layout,
                                                   bool (*leaves_registers)(std::string_view name),
                                                   bool (*begins_a_stack)(std::string_view name)) {
  std::vector<unwind::TrapFrameLayout> entries;
  const auto& symbols = kernel.file->symbols();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const bool ends = begins_a_stack(symbols[i].name);
    if (!ends && !leaves_registers(symbols[i].name)) continue;
    unwind::TrapFrameLayout entry = ends ? unwind::TrapFrameLayout{} : layout;
    if (ends) entry.below = unwind::TrapFrameLayout::Below::kNothing;
    entry.start = kernel.to_guest(symbols[i].address);
    entry.end = entry.start + elf::extent_of(symbols, i);
    entries.push_back(entry);
  }
  return entries;
}

void end_in_user_mode(std::vector<unwind::TrapFrameLayout>& entries, const elf::Image& kernel,
                      const std::string& name, std::uint64_t bytes) {
  const auto symbol = kernel.file->symbol_named(name);
  if (!symbol) return;
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const auto& candidate) {
    return candidate.start == kernel.to_guest(symbol->address);
  });
  if (entry == entries.end() || entry->end - entry->start <= bytes) return;
  unwind::TrapFrameLayout tail = *entry;
  tail.below = unwind::TrapFrameLayout::Below::kUser;
  tail.start = entry->end - bytes;
  entry->end = tail.start;
  entries.push_back(tail);
}

}  // namespace ringside::guestos
