#pragma once

#include "base/types.h"
#include "wire/registers.h"

namespace ringside::guestos {

// What user code with these registers of a kernel's architecture was built for: i386 where x86_64
// Linux runs 32-bit code, kUnknown for AArch32, which is not captured.
[[nodiscard]] Arch user_arch(Arch kernel, const wire::Registers& registers);

}  // namespace ringside::guestos
