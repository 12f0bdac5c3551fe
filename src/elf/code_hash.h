#pragma once

#include <cstdint>

#include "elf/elf_file.h"

namespace ringside::elf {

// A number that two files share whose executable segments have the same addresses and bytes: it
// tells a file that was built again where there is no build id. 64-bit FNV-1a, never 0; not against
// forgery. 0 for a file without executable bytes. About 1 ms for each MB of code.
[[nodiscard]] std::uint64_t code_hash(const ElfFile& file);

}  // namespace ringside::elf
