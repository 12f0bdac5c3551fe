#pragma once

#include <filesystem>

#include "base/result.h"
#include "elf/elf_file.h"
#include "symbols/symbol_list.h"

namespace ringside::symbols {

// A kernel's own symbols in a text file (parse_nm_text); those of modules are left out. Reads up to
// 256 MB, and from pipes and /proc too.
[[nodiscard]] Result<SymbolList> read_kernel_symbols(const std::filesystem::path& path);

// Moves the list to where `file` is linked: /proc/kallsyms shows where a kernel runs, which KASLR
// has moved. By a function that both know; where `file` has no symbols by its lowest segment, which
// Linux calls _text, unless the list's _text lies in one. kMismatch where the two know
// functions of the same names, and fewer than nine in ten of them lie at the same addresses; the
// message names `list_name`.
[[nodiscard]] Result<void> move_to(const elf::ElfFile& file, const std::string& list_name,
                                   SymbolList& list);

// How far the functions of `running` lie above those of the same names in `file`, modulo 2^64: two
// files of one kernel, of which one may have been made of a guest's memory, where KASLR has moved
// it. Nothing where they have no name in common; kMismatch as with move_to().
[[nodiscard]] Result<std::optional<std::uint64_t>> distance_between(const elf::ElfFile& file,
                                                                    const elf::ElfFile& running);

}  // namespace ringside::symbols
