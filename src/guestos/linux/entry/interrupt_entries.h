#pragma once

#include "elf/image_map.h"
#include "guestos/interrupt_code.h"

namespace ringside::guestos {

// The code of a Linux kernel that runs in interrupts, by the names of its functions.
[[nodiscard]] InterruptCode linux_interrupt_code(const elf::Image& kernel);

}  // namespace ringside::guestos
