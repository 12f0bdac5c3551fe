#pragma once

#include <span>
#include <vector>

#include "elf/elf_file.h"

namespace ringside::cases {

// A small ELF file with what unwinding and naming need at `code`, which are addresses inside
// functions: those functions' bytes, symbols, call-frame information and ORC rows (with a function
// also its cold parts, with assembly what it jumps to, and entry code as a whole). Addresses are
// the same, and every address that was code still is, though most have no bytes; so wrong walks
// stay wrong.
[[nodiscard]] std::vector<std::byte> minimize_image(const std::shared_ptr<const elf::ElfFile>& file,
                                                    std::span<const ImageAddr> code);

}  // namespace ringside::cases
