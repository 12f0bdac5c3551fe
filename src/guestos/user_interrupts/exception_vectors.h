#pragma once

#include <vector>

#include "elf/image_map.h"
#include "guestos/user_interrupts/kernel_entry.h"

namespace ringside::guestos {

// The entries of the aarch64 vector table at `base` (VBAR_EL1): one for each kind of exception,
// from this level and from below (Arm ARM, D1.3.1.5). Interrupts are IRQ and FIQ. Empty where the
// table is not in the kernel's code.
[[nodiscard]] std::vector<KernelEntry> entries_of_vectors(const elf::Image& kernel, GuestVirt base);

}  // namespace ringside::guestos
