#pragma once

#include <memory>

#include "base/memory_reader.h"
#include "elf/elf_file.h"

namespace ringside::session {

// A Linux kernel that nothing is known of but a place where it runs: reads what is mapped around
// `pc`, at most 64 MiB either way, and makes an ELF file of it whose addresses are those in the
// guest (symbols::make_elf). Null where there is no such kernel. Errors: those of `memory`.
[[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> kernel_in_memory(Arch arch, GuestVirt pc,
                                                                           VirtualMemory& memory);

}  // namespace ringside::session
