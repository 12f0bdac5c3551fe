#pragma once

#include <string>

#include "base/result.h"
#include "symbols/symbol_list.h"

namespace ringside::symbols {

// The symbols in a text of lines "address type name" (System.map, nm), "address size type name"
// (nm -S) or "address type name [module]" (/proc/kallsyms); sorted by address. Names may have
// blanks in them, as `nm -C` writes them. Undefined symbols and blank lines are passed over. Errors
// name `file_name` and the line; a text in which all addresses are 0, which a kernel shows to users
// it does not trust, is one of them.
[[nodiscard]] Result<SymbolList> parse_nm_text(std::string text, const std::string& file_name);

}  // namespace ringside::symbols
