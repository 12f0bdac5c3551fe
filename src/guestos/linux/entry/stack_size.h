#pragma once

#include <cstdint>
#include <optional>

#include "elf/elf_file.h"

namespace ringside::guestos {

// Bytes of a thread's kernel stack, THREAD_SIZE: by the symbols around the first task's stack; on
// aarch64 by the entry code's test for a stack that has overflowed. Nothing where neither is there.
[[nodiscard]] std::optional<std::uint64_t> kernel_stack_size(const elf::ElfFile& kernel);

}  // namespace ringside::guestos
