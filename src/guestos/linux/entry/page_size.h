#pragma once

#include <cstdint>

#include "elf/elf_file.h"

namespace ringside::guestos {

// Bytes of a page of the kernel's. Only aarch64 has a choice, which the kernel's image reports.
[[nodiscard]] std::uint64_t kernel_page_size(const elf::ElfFile& kernel);

}  // namespace ringside::guestos
