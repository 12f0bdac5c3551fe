#pragma once

#include <string>

#include "elf/elf_file.h"

namespace ringside::guestos {

// "6.1.0-50-686" of Linux' banner, "Linux version 6.1.0-50-686 (…"; empty where the kernel has
// none.
[[nodiscard]] std::string linux_release(const elf::ElfFile& kernel);

}  // namespace ringside::guestos
