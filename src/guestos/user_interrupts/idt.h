#pragma once

#include <vector>

#include "base/memory_reader.h"
#include "elf/image_map.h"
#include "guestos/user_interrupts/kernel_entry.h"

namespace ringside::guestos {

// The gates of an x86 kernel's interrupt descriptor tables, one for each address. A table is an
// object of the kernel's whose name has "idt" in it, and whose every 8 or 16 bytes in the guest's
// memory are a gate to the kernel's code or none. Only a hardware interrupt enters a gate of vector
// 32 or above from user code, unless the gate lets user code call it: descriptor privilege level 3
// (Intel SDM volume 3, 6.2, 6.12.1.1). Empty where no table is found. Errors: those of `memory`.
[[nodiscard]] Result<std::vector<KernelEntry>> entries_of_idt(const elf::Image& kernel,
                                                              VirtualMemory& memory);

}  // namespace ringside::guestos
