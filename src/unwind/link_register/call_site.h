#pragma once

#include "elf/elf_file.h"
#include "unwind/link_register/instruction.h"

namespace ringside::unwind::link_register {

// Whether a call ends right before `pc`, as before every return address.
[[nodiscard]] bool follows_call(const elf::ElfFile& file, ImageAddr pc, const Decoder& decoder);

// The call that ends right before `pc`; nothing where none does. riscv64's calls through a register
// that the instruction before sets (`auipc ra, …; jalr …(ra)`) have their target.
[[nodiscard]] std::optional<Instruction> call_before(const elf::ElfFile& file, ImageAddr pc,
                                                     const Decoder& decoder);

// Whether a direct call or jump to `function` is anywhere in the code.
[[nodiscard]] bool has_direct_call(const elf::ElfFile& file, ImageAddr function,
                                   const Decoder& decoder);

}  // namespace ringside::unwind::link_register
