#pragma once

#include <cstdint>
#include <memory>

#include "base/memory_reader.h"
#include "elf/elf_file.h"

namespace ringside::session {

struct ScannedKernel {
  std::shared_ptr<const elf::ElfFile> file;  // null where there is no such kernel
  std::uint64_t bytes = 0;                   // that were read
  bool is_whole = false;                     // none of its symbols is behind what was read
};

// A Linux kernel that nothing is known of but a place where it runs: reads what is mapped around
// `pc`, at most 64 MiB either way, and makes an ELF file of it whose addresses are those in the
// guest (symbols::make_elf). Errors: those of `memory`.
[[nodiscard]] Result<ScannedKernel> kernel_in_memory(Arch arch, GuestVirt pc,
                                                     VirtualMemory& memory);

}  // namespace ringside::session
