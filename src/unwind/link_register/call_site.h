#pragma once

#include "elf/elf_file.h"
#include "unwind/link_register/instruction.h"

namespace ringside::unwind::link_register {

// Whether a call ends right before `pc`, as before every return address.
[[nodiscard]] bool follows_call(const elf::ElfFile& file, ImageAddr pc, const Decoder& decoder);

}  // namespace ringside::unwind::link_register
