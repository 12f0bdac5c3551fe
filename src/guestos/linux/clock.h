#pragma once

#include <optional>

#include "elf/image_map.h"
#include "guestos/linux/kernel_reader.h"

namespace ringside::guestos {

// What the guest's clocks showed when the kernel set them last, which it does at each tick.
struct LinuxClock {
  std::uint64_t boot_ns = 0;  // CLOCK_BOOTTIME
  std::uint64_t real_ns = 0;  // CLOCK_REALTIME: since 1970, UTC
};

// From the kernel's variable tk_core (kernel/time/timekeeping.c). Nothing where that, or its types,
// are not known, or what is there is no time. Errors: those of `read` that are not of memory.
[[nodiscard]] Result<std::optional<LinuxClock>> read_clock(const elf::Image& kernel,
                                                           const KernelReader& read);

// Bytes of memory that the kernel manages, the variable _totalram_pages. Nothing where it is not
// known.
[[nodiscard]] Result<std::optional<std::uint64_t>> read_memory_size(const elf::Image& kernel,
                                                                    const KernelReader& read,
                                                                    std::uint64_t page_size);

}  // namespace ringside::guestos
