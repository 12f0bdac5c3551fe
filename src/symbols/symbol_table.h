#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "elf/elf_file.h"
#include "symbols/symbol_list.h"

namespace ringside::symbols {

struct Symbol {
  std::string_view raw;  // as in the source; valid as long as the table
  ImageAddr start;
  std::uint64_t size = 0;  // bytes up to the end of the symbol's code
  // `size` is the file's own. Otherwise the symbol reaches to the next one, and there may be other
  // code between them.
  bool has_own_size = true;

  bool operator==(const Symbol&) const = default;
};

// Function names of one image, by address. One name per address range: of aliases the one with a
// size, then global before weak before local, then typed, then the shorter name stays. Code labels
// without a size reach to the next symbol or the end of their section or segment.
class SymbolTable {
 public:
  [[nodiscard]] static SymbolTable from_elf(std::shared_ptr<const elf::ElfFile> file);
  // The functions of a list (kallsyms, System.map). One without a size reaches to the next symbol
  // of any kind. The names stay those of the list, whose text is kept.
  [[nodiscard]] static SymbolTable from_list(SymbolList list);

  // The symbol whose range holds `address`, which is an address as linked. For a return address,
  // ask for the byte before it (Frame::lookup_address).
  [[nodiscard]] std::optional<Symbol> find(ImageAddr address) const;
  // The last symbol that begins at or below `address`, wherever it ends.
  [[nodiscard]] std::optional<Symbol> find_below(ImageAddr address) const;
  [[nodiscard]] const std::vector<Symbol>& symbols() const { return symbols_; }
  [[nodiscard]] bool empty() const { return symbols_.empty(); }

 private:
  std::shared_ptr<const elf::ElfFile> file_;
  std::shared_ptr<const std::string> text_;
  std::vector<Symbol> symbols_;  // sorted, without two at one address
};

}  // namespace ringside::symbols
