#pragma once

#include "elf/elf_file.h"

namespace ringside::unwind::x86 {

// Whether a call ends right before `pc`, as before every return address. Told by its bytes, of
// which other instructions may have the like.
[[nodiscard]] bool follows_call(const elf::ElfFile& file, ImageAddr pc);

}  // namespace ringside::unwind::x86
