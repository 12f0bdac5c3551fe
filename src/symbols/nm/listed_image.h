#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "elf/elf_file.h"
#include "symbols/symbol_list.h"

namespace ringside::symbols {

// An ELF file that stands for a kernel of which nothing but a list of symbols is there: its
// functions, as SymbolTable::from_list() gives them, and segments of code, without bytes, that
// cover them. In a list with sizes (nm -S) a symbol without one names nothing: it is a label, or a
// mark of the linker's, and no file shows where its section ends. `name` is what messages call it;
// `arch` may be kUnknown. kFormat where the list has no function, kMismatch where an address is too
// large for `arch`.
[[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> elf_of_symbols(SymbolList list, Arch arch,
                                                                         std::string name);

}  // namespace ringside::symbols
