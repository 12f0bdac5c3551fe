#pragma once

#include <vector>

#include "elf/image_map.h"
#include "guestos/user_interrupts/kernel_entry.h"

namespace ringside::guestos {

// The entries of a riscv64 kernel in supervisor mode whose stvec has this value: one for each
// cause, all at one address unless interrupts are vectored (RISC-V privileged
// specification, 12.1.2). The cause that the entry's code stores on the stack decides; the register
// itself may be a later trap's. Empty where the entry is not in the kernel's code.
[[nodiscard]] std::vector<KernelEntry> entries_of_trap_vector(const elf::Image& kernel,
                                                              std::uint64_t stvec);

}  // namespace ringside::guestos
