#pragma once

#include "guestos/linux/types/field_finder.h"
#include "guestos/linux/types/linux_types.h"

namespace ringside::guestos {

// struct pt_regs of the kernel's architecture, and where task_pt_regs() has it. `find` records a
// missing member.
[[nodiscard]] UserRegisters find_user_registers(const elf::ElfFile& kernel, FieldFinder& find);

}  // namespace ringside::guestos
