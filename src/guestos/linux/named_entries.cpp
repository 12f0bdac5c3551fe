#include "guestos/linux/named_entries.h"

namespace ringside::guestos {

std::vector<unwind::EntryLayout> named_entries(const elf::Image& kernel,
                                               const unwind::EntryLayout& layout,
                                               bool (*leaves_registers)(std::string_view name),
                                               bool (*begins_a_stack)(std::string_view name)) {
  std::vector<unwind::EntryLayout> entries;
  const auto& symbols = kernel.file->symbols();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const bool ends = begins_a_stack(symbols[i].name);
    if (!ends && !leaves_registers(symbols[i].name)) continue;
    // Labels without a size reach to the next symbol.
    std::uint64_t size = symbols[i].size;
    for (std::size_t next = i + 1; size == 0 && next < symbols.size(); ++next)
      size = symbols[next].address - symbols[i].address;
    unwind::EntryLayout entry = ends ? unwind::EntryLayout{} : layout;
    if (ends) entry.below = unwind::EntryLayout::Below::kNothing;
    entry.start = kernel.to_guest(symbols[i].address);
    entry.end = entry.start + size;
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace ringside::guestos
