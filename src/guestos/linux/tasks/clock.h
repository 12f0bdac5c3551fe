#pragma once

#include <optional>

#include "elf/image_map.h"
#include "guestos/linux/types/kernel_reader.h"
#include "guestos/process_source.h"

namespace ringside::guestos {

// Where a kernel keeps its clocks, struct timekeeper, include/linux/timekeeper_internal.h.
struct ClockFields {
  std::uint32_t start = 0;  // of it in tk_core, behind a sequence count
  Field seconds;
  Field fraction;  // of a second, in ns << shift
  Field shift;
  Field real_offset;  // from CLOCK_MONOTONIC, ns
  Field boot_offset;
  std::uint32_t bytes = 0;

  // Error kNotFound names what the kernel's types lack.
  [[nodiscard]] static Result<ClockFields> of(const elf::ElfFile& kernel, const TypeSource& types);
};

// CLOCK_BOOTTIME and CLOCK_REALTIME, which the kernel sets at each tick, from its variable tk_core
// (kernel/time/timekeeping.c). Nothing where that is not known, or what is there is no time.
// Errors: those of `memory` that are not of memory.
[[nodiscard]] Result<std::optional<GuestClock>> read_clock(const elf::Image& kernel,
                                                           const ClockFields& fields,
                                                           const KernelReader& read);

// Bytes of memory that the kernel manages, the variable _totalram_pages. Nothing where it is not
// known.
[[nodiscard]] Result<std::optional<std::uint64_t>> read_memory_size(const elf::Image& kernel,
                                                                    const KernelReader& read,
                                                                    std::uint64_t page_size);

}  // namespace ringside::guestos
