#pragma once

#include <cstddef>
#include <vector>

#include "elf/elf_file.h"

namespace ringside::symbols {

// A small copy of a file that is good for names and nothing else: an ELF file with the same
// functions, segments without contents and the build id, compressed with zstd. ElfFile::from_bytes
// reads it. Debian's kernel: 0.8 MB for 60,000 functions.
[[nodiscard]] std::vector<std::byte> pack_symbols(const elf::ElfFile& file);

}  // namespace ringside::symbols
