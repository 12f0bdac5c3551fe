#pragma once

#include <vector>

#include "elf/elf_file.h"

namespace ringside::elf {

// The functions of a Go program by the table that it needs to run (.gopclntab), which strip and the
// linker's -s leave there; the names are those of its symbol table. For Go 1.16 and newer
// (runtime/symtab.go: pcHeader, functab, _func). `text`: where .text begins, for a program that is
// relocated when it starts, whose table has no address. Names lie in `table`. Empty for a table of
// another kind, and up to the first entry that is damaged.
[[nodiscard]] std::vector<FunctionSymbol> go_functions(Bytes table, ImageAddr text);

}  // namespace ringside::elf
