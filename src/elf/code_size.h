#pragma once

#include <cstdint>

#include "elf/elf_file.h"

namespace ringside::elf {

// Bytes from the lowest to the highest address of code; 0 where there is none.
[[nodiscard]] std::uint64_t code_size(const ElfFile& file);

}  // namespace ringside::elf
