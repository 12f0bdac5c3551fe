#pragma once

#include <cstdint>

#include "elf/elf_file.h"

namespace ringside::elf {

// A number that two files share whose executable segments have the same addresses and bytes: it
// shows that a file was built again where there is no build id. XXH3-64 (seed 0) of each segment's
// address, as eight little-endian bytes, and its bytes; never 0; not against forgery. 0 for a file
// without executable bytes.
[[nodiscard]] std::uint64_t code_hash(const ElfFile& file);

}  // namespace ringside::elf
