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

constexpr std::uint64_t kMaxLastFunction = 4096;

auto rank(const ListedSymbol& symbol) {
  const int binding = symbol.type == 'T' ? 0 : symbol.type == 't' ? 2 : 1;
  return std::tuple(is_section_border(symbol.name), symbol.size == 0, binding, symbol.name.size(),
                    symbol.name);
}

// Linker scripts' names; what lies behind them is in the same segment, and no code of that name.
bool is_end_of_text(std::string_view name) {
  return name == "etext" || name == "_etext" || name == "__etext" || name == "_einittext";
}

}  // namespace

SymbolTable SymbolTable::from_elf(std::shared_ptr<const elf::ElfFile> file) {
  SymbolTable table;
  std::optional<bool> is_linux;
  const auto names_functions_only = [&] {
    if (!is_linux) is_linux = file->symbol_named("linux_banner").has_value();
    return !*is_linux;
  };
  const std::vector<elf::FunctionSymbol>& all = file->symbols();
  table.symbols_.reserve(all.size());
  ImageAddr sized_end{0};  // of the last function that has a size
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i + 1;
    const elf::FunctionSymbol* best = &all[i];
    for (; end < all.size() && all[end].address == all[i].address; ++end)
      if (rank(all[end]) < rank(*best)) best = &all[end];
    i = end;
    // Where the text ends there is no function.
    if (best->size == 0 && is_end_of_text(best->name)) continue;
    // A label inside a function that has a size names a place in it, not a function. Those of Linux
    // are in its kallsyms, and all tools show them: entry_SYSCALL_64_after_hwframe.
    const bool inside = !best->is_function && best->size == 0 && best->address < sized_end;
    if (inside && names_functions_only()) continue;
    if (best->size != 0) sized_end = best->address + best->size;
    std::uint64_t size = best->size;
    if (size == 0) {
      size = file->end_of_code(best->address) - best->address;
      if (end < all.size()) size = std::min(size, all[end].address - best->address);
      if (inside) size = std::min(size, sized_end - best->address);
      if (size == 0) continue;  // a linker script's label at the end of its section
    }
    table.symbols_.push_back({best->name, best->address, size, best->size != 0});
  }
  table.file_ = std::move(file);
  return table;
}

SymbolTable SymbolTable::from_list(SymbolList list) {
  SymbolTable table;
  const auto by_address = [](const ListedSymbol& a, const ListedSymbol& b) {
    return a.address < b.address;
  };
  std::vector<ListedSymbol>& all = list.symbols;
  std::uint64_t known_size = 0;  // of the last function, as the list has it
  if (!std::is_sorted(all.begin(), all.end(), by_address))
    std::stable_sort(all.begin(), all.end(), by_address);
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    const ListedSymbol* best = nullptr;
    for (; end < all.size() && all[end].address == all[i].address; ++end)
      if (all[end].is_text() && (best == nullptr || rank(all[end]) < rank(*best))) best = &all[end];
    i = end;
    if (best == nullptr || is_end_of_text(best->name)) continue;
    // A label inside a function that has a size names a place in it.
    const bool inside = best->size == 0 && !table.symbols_.empty() &&
                        best->address - table.symbols_.back().start < known_size;
    if (inside) continue;
    known_size = best->size;
    // The list does not hold what comes behind the last function of a module.
    std::uint64_t size = best->size != 0 ? best->size : kMaxLastFunction;
    if (best->size == 0 && end < all.size()) {
      const std::uint64_t distance = all[end].address - best->address;
      size = all[end].module == best->module ? distance : std::min(size, distance);
    }
    table.symbols_.push_back({best->name, best->address, size});
  }
  table.text_ = std::move(list.text);
  return table;
}

namespace {

auto first_behind(const std::vector<Symbol>& symbols, ImageAddr address) {
  return std::upper_bound(symbols.begin(), symbols.end(), address,
                          [](ImageAddr at, const Symbol& symbol) { return at < symbol.start; });
}

}  // namespace

std::optional<Symbol> SymbolTable::find_below(ImageAddr address) const {
  const auto after = first_behind(symbols_, address);
  if (after == symbols_.begin()) return std::nullopt;
  return *std::prev(after);
}

std::optional<Symbol> SymbolTable::find(ImageAddr address) const {
  auto after = first_behind(symbols_, address);
  // Functions may nest (an entry point in another's middle): the innermost that still reaches here,
  // looked for a few symbols back.
  for (int i = 0; i < 8 && after != symbols_.begin(); ++i) {
    --after;
    if (address - after->start < after->size) return *after;
  }
  return std::nullopt;
}

}  // namespace ringside::symbols
