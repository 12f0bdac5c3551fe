#pragma once

#include "arch/registers.h"
#include "base/types.h"

namespace ringside::guestos {

// The architecture that user code with these registers of the kernel's architecture was built for:
// i386 where x86_64 Linux runs 32-bit code, kUnknown for AArch32, which is not captured.
[[nodiscard]] Arch user_arch(Arch kernel, const arch::Registers& registers);

}  // namespace ringside::guestos
