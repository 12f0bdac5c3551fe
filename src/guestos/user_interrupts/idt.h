#pragma once

#include <span>
#include <vector>

#include "base/memory_reader.h"
#include "elf/image_map.h"
#include "guestos/user_interrupts/kernel_entry.h"

namespace ringside::guestos {

// An object of the kernel's that may hold an interrupt descriptor table.
struct IdtObject {
  ImageAddr address;
  std::uint64_t size = 0;
};

// Those whose name has the word "idt" in it: `early_idt`, `IDT_TABLE`, `theIdt`.
[[nodiscard]] std::vector<IdtObject> objects_named_idt(const elf::ElfFile& file);

// The gates of an x86 kernel's interrupt descriptor tables, one for each address. A table is one of
// `objects` whose every 8 or 16 bytes in the guest's memory are a gate to the kernel's code or
// none, and that has a gate for vector 0. Only a hardware interrupt enters a gate of vector 32 or
// above from user code, unless the gate lets user code call it: descriptor privilege level 3 (Intel
// SDM volume 3, 6.2, 6.12.1.1). Empty where no table is found. Errors: those of `memory`.
[[nodiscard]] Result<std::vector<KernelEntry>> entries_of_idt(const elf::Image& kernel,
                                                              std::span<const IdtObject> objects,
                                                              VirtualMemory& memory);

}  // namespace ringside::guestos
