#pragma once

#include <memory>
#include <vector>

#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/symbol_table.h"

namespace ringside::symbols {

enum class Inlines { kShow, kHide };

// All that a file knows about an address: its symbol table and its debug information together. One
// thread at a time.
class Symbolizer {
 public:
  // The first table that has a name for an address gives it. `dwarf` may be null.
  Symbolizer(std::vector<SymbolTable> tables, std::unique_ptr<DwarfSymbols> dwarf,
             Inlines inlines = Inlines::kShow)
      : tables_(std::move(tables)), dwarf_(std::move(dwarf)), inlines_(inlines) {}

  // The frames at an address as linked, innermost first. The function that was compiled there, the
  // last one, has the symbol table's name if that has one: it distinguishes "f.cold" and "f.part.0"
  // from "f", and is the name that a frame has without debug information. With inlined calls hidden
  // it is the only frame, with the line of the address. Empty: nothing is known.
  [[nodiscard]] std::vector<SourceFrame> lookup(ImageAddr address);

  // Asks `table` before the others.
  void put_first(SymbolTable table) { tables_.insert(tables_.begin(), std::move(table)); }
  // Asked where debug information has no name, and no symbol, or one that does not say how long its
  // function is: what begins behind it has its own name.
  void set_fallback(SymbolTable table) { fallback_ = std::move(table); }

  // Where nothing else has a name, the symbol below the address gives it, whatever its size.
  void accept_beyond_sizes() { accepts_beyond_sizes_ = true; }

  // Neither symbols nor debug information.
  [[nodiscard]] bool empty() const;

 private:
  std::vector<SymbolTable> tables_;
  std::optional<SymbolTable> fallback_;
  std::unique_ptr<DwarfSymbols> dwarf_;
  Inlines inlines_;
  bool accepts_beyond_sizes_ = false;
};

}  // namespace ringside::symbols
