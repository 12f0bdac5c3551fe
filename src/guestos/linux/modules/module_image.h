#pragma once

#include <optional>

#include "base/memory_reader.h"
#include "base/result.h"
#include "elf/image_map.h"
#include "guestos/linux/modules/module_shape.h"

namespace ringside::guestos {

// Reads a module's code and symbols and makes an ELF file of them, linked to where the module runs
// (load bias 0). Nothing if the code cannot be read whole; a module without symbols has code only.
// With x86_64's ORC, where the module has it; `orc_header` says that it is of 6.4 or later, where
// vmlinux has a section .orc_header. Errors: those of `memory`.
[[nodiscard]] Result<std::optional<elf::Image>> read_module_image(const ModuleShape& module,
                                                                  Arch arch, bool orc_header,
                                                                  VirtualMemory& memory);

}  // namespace ringside::guestos
