#pragma once

#include "unwind/x86/path_search.h"

namespace ringside::unwind::x86 {

// Whether the code at `at` never leaves its function by a return: each of its ways ends in a loop,
// a trap, or bytes that are no instruction. False where it is too long, or jumps through a pointer.
[[nodiscard]] bool never_returns(const elf::Image& image, CodeReader& code, GuestVirt at);

}  // namespace ringside::unwind::x86
