#pragma once

#include <cstdint>
#include <optional>

#include "elf/elf_file.h"

namespace ringside::naming {

// Where the kernel `file` ran: how far `running`, memory that was read from a guest and lies where
// it ran, is from where the file is linked: a multiple of 4 KiB, modulo 2^64. Nothing where
// what both have is not of one build (kernel_image::is_one_build). 30 MB of code take about 0.1 s.
[[nodiscard]] std::optional<std::uint64_t> distance_by_code(const elf::ElfFile& file,
                                                            const elf::ElfFile& running);

}  // namespace ringside::naming
