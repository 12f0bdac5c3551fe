#pragma once

#include <vector>

#include "elf/image_map.h"
#include "unwind/entry_layout.h"

namespace ringside::guestos {

// What Linux's entry code for riscv64 (arch/riscv/kernel/entry.S, 4.15 to 6.12) leaves on the
// stack: a struct pt_regs at the stack pointer wherever it calls C code. Elsewhere in the entry
// code only its instructions tell.
[[nodiscard]] std::vector<unwind::EntryLayout> riscv64_entries(const elf::Image& kernel);

}  // namespace ringside::guestos
