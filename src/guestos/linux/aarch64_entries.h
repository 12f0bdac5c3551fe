#pragma once

#include <vector>

#include "elf/image_map.h"
#include "unwind/entry_layout.h"

namespace ringside::guestos {

// What Linux's entry code for aarch64 (arch/arm64/kernel/entry.S, 4.14 to 6.x) leaves on the stack:
// wherever it calls C code the frame pointer leads to the frame record inside a struct pt_regs.
// Elsewhere in the entry code only its instructions tell.
[[nodiscard]] std::vector<unwind::EntryLayout> aarch64_entries(const elf::Image& kernel);

}  // namespace ringside::guestos
