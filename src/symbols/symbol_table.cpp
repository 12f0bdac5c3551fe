#include "symbols/symbol_table.h"

#include <algorithm>
#include <tuple>

namespace ringside::symbols {
namespace {

// Smaller is better.
auto rank(const elf::FunctionSymbol& symbol) {
  return std::tuple(symbol.size == 0, -static_cast<int>(symbol.binding), !symbol.is_function,
                    symbol.name.size(), symbol.name);
}

std::uint64_t segment_end(const elf::ElfFile& file, ImageAddr address) {
  for (const elf::Segment& segment : file.segments())
    if (segment.executable && segment.contains(address))
      return segment.address.value + segment.memory_size;
  return address.value + 1;
}

}  // namespace

SymbolTable SymbolTable::from_elf(std::shared_ptr<const elf::ElfFile> file) {
  SymbolTable table;
  const std::vector<elf::FunctionSymbol>& all = file->symbols();
  table.symbols_.reserve(all.size());
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i + 1;
    const elf::FunctionSymbol* best = &all[i];
    for (; end < all.size() && all[end].address == all[i].address; ++end)
      if (rank(all[end]) < rank(*best)) best = &all[end];
    i = end;
    // A label inside a function that has a size names a place in it, not a function.
    const bool inside = !best->is_function && best->size == 0 && !table.symbols_.empty() &&
                        best->address - table.symbols_.back().start < table.symbols_.back().size;
    if (inside) continue;
    std::uint64_t size = best->size;
    if (size == 0) {
      size = segment_end(*file, best->address) - best->address.value;
      if (end < all.size()) size = std::min(size, all[end].address - best->address);
    }
    table.symbols_.push_back({best->name, best->address, size});
  }
  table.file_ = std::move(file);
  return table;
}

std::optional<Symbol> SymbolTable::find(ImageAddr address) const {
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                [](ImageAddr at, const Symbol& s) { return at < s.start; });
  // Functions may nest (an entry point in another's middle): the innermost that still reaches here,
  // looked for a few symbols back.
  for (int i = 0; i < 8 && after != symbols_.begin(); ++i) {
    --after;
    if (address - after->start < after->size) return *after;
  }
  return std::nullopt;
}

}  // namespace ringside::symbols
