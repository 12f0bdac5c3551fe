#include "symbols/nm/listed_image.h"

#include <elf.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "arch/arch_info.h"
#include "elf/elf_writer.h"
#include "symbols/symbol_table.h"

namespace ringside::symbols {
namespace {

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

// The code of functions that are sorted by address. Two that are less than `gap` apart are in one
// range: what is between them is padding, or code without symbols.
std::vector<Range> ranges_of(const std::vector<Symbol>& functions, std::uint64_t gap) {
  std::vector<Range> ranges;
  for (const Symbol& function : functions) {
    const std::uint64_t begin = function.start.value;
    const std::uint64_t end =
        begin + std::min(function.size, std::numeric_limits<std::uint64_t>::max() - begin);
    if (!ranges.empty() && begin < ranges.back().end + std::min(gap, ~ranges.back().end))
      ranges.back().end = std::max(ranges.back().end, end);
    else
      ranges.push_back({begin, end});
  }
  return ranges;
}

// Few of them: a kernel has some sections of code, and a header counts to 65,535.
std::vector<Range> code_of(const std::vector<Symbol>& functions) {
  constexpr std::uint64_t kLeastGap = 64 << 10;
  constexpr std::size_t kMostRanges = 64;
  std::uint64_t gap = kLeastGap;
  std::vector<Range> ranges = ranges_of(functions, gap);
  while (ranges.size() > kMostRanges) {
    gap *= 16;
    ranges = ranges_of(functions, gap == 0 ? std::numeric_limits<std::uint64_t>::max() : gap);
  }
  return ranges;
}

std::vector<elf::ElfWriter::Symbol> symbols_of(const std::vector<Symbol>& functions) {
  std::vector<elf::ElfWriter::Symbol> symbols;
  symbols.reserve(functions.size());
  for (const Symbol& function : functions)
    symbols.push_back({.name = function.raw,
                       .address = function.start,
                       .size = function.size,
                       .info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)});
  return symbols;
}

}  // namespace

Result<std::shared_ptr<const elf::ElfFile>> elf_of_symbols(SymbolList list, Arch arch,
                                                           std::string name) {
  std::erase_if(list.symbols, [](const ListedSymbol& symbol) { return !symbol.module.empty(); });
  const bool has_sizes =
      std::any_of(list.symbols.begin(), list.symbols.end(),
                  [](const ListedSymbol& symbol) { return symbol.is_text() && symbol.size != 0; });
  if (has_sizes)
    std::erase_if(list.symbols, [](const ListedSymbol& symbol) { return symbol.size == 0; });
  const SymbolTable table = SymbolTable::from_list(std::move(list));
  const std::vector<Symbol>& functions = table.symbols();
  if (functions.empty()) return fail(ErrorCode::kFormat, "{} has no functions", name);
  const bool is_64 = arch::info_of(arch).is_64_bit();
  const std::vector<Range> code = code_of(functions);
  if (!is_64 && code.back().end > std::uint64_t{1} << 32)
    return fail(ErrorCode::kMismatch, "{}: {} is no address of {}", name, functions.back().start,
                arch::name_of(arch));
  elf::ElfWriter writer(arch, is_64, ET_EXEC);
  for (const Range& range : code)
    writer.add_segment({range.begin}, range.end - range.begin, true, false, {});
  writer.set_symbols(symbols_of(functions));
  return elf::ElfFile::from_bytes(writer.write(), std::move(name));
}

}  // namespace ringside::symbols
