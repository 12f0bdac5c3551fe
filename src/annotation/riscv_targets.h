#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.h"

namespace ringside::annotation {

struct Instruction;

// Where a RISC-V jump or branch goes, relative to itself in bytes ("The RISC-V Instruction Set
// Manual" 20191213, 2.5 and 16.4): JAL, the conditional branches, C.J, C.BEQZ and C.BNEZ. `code` is
// one instruction of 2 or 4 bytes. Nothing for other instructions.
[[nodiscard]] std::optional<std::int64_t> riscv_displacement(Bytes code);

// Gives an instruction its target, also in its text: LLVM writes the displacement there.
void name_riscv_target(Bytes code, Instruction& instruction);

}  // namespace ringside::annotation
