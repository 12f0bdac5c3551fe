#pragma once

#include <optional>

#include "elf/elf_file.h"

namespace ringside::unwind::x86 {

// Whether a call ends right before `pc`, as before every return address. Decided by its bytes, of
// which other instructions may have the like.
[[nodiscard]] bool follows_call(const elf::ElfFile& file, ImageAddr pc);

// Where the direct call goes that ends right before `pc`, in its low 32 bits on i386; nothing where
// there is none.
[[nodiscard]] std::optional<ImageAddr> called_from(const elf::ElfFile& file, ImageAddr pc);

// Whether the bytes of a direct call or jump with 32 bits to `function` are anywhere in the code.
[[nodiscard]] bool has_direct_call(const elf::ElfFile& file, ImageAddr function);

}  // namespace ringside::unwind::x86
