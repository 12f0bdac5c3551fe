#pragma once

#include <cstdint>

#include "base/types.h"

namespace ringside::unwind::x86 {

// The number in arch/registers.h of the general register that capstone's register (x86_reg) is, or
// is a part of; kNoRegister for others.
[[nodiscard]] std::uint8_t register_number(Arch arch, unsigned reg);

}  // namespace ringside::unwind::x86
