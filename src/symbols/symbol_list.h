#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace ringside::symbols {

// A symbol as nm and /proc/kallsyms show it: functions, labels and data alike.
struct ListedSymbol {
  ImageAddr address;
  // nm's letter: t text, d data, b bss, r read-only, w weak, a absolute; capital: global.
  char type = '?';
  std::string_view name;
  std::string_view module;  // empty for the kernel itself
  std::uint64_t size = 0;   // bytes; 0: not known

  bool operator==(const ListedSymbol&) const = default;
  [[nodiscard]] bool is_text() const {
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
  }
};

// Linker scripts' names for the borders of sections, which name no function.
[[nodiscard]] inline bool is_section_border(std::string_view name) {
  return name == "_text" || name == "_stext" || name == "_etext" || name == "_sinittext" ||
         name == "_einittext" || name.ends_with("_start") || name.ends_with("_begin") ||
         name.ends_with("_end");
}

// All symbols of a kernel, from kallsyms or from a text. Names are views of `text`.
struct SymbolList {
  std::vector<ListedSymbol> symbols;  // in the order of their source, which is by address
  std::shared_ptr<const std::string> text;

  // The first symbol of that name outside of modules; a linear search (150,000 symbols: 0.3 ms).
  [[nodiscard]] std::optional<ImageAddr> address_of(std::string_view name) const {
    for (const ListedSymbol& symbol : symbols)
      if (symbol.name == name && symbol.module.empty()) return symbol.address;
    return std::nullopt;
  }
};

}  // namespace ringside::symbols
