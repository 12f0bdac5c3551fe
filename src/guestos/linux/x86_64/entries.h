#pragma once

#include <vector>

#include "elf/image_map.h"
#include "unwind/trap_frame_layout.h"

namespace ringside::guestos {

// Frames that Linux's assembly for x86_64 leaves on its stacks, found by a kernel's symbols and the
// bytes of its code: struct pt_regs under system calls, interrupts and exceptions; and the starts
// of threads. Included are the places where ORC cannot be right, because the kernel changes its own
// code when it boots, or because objtool had no better information.
[[nodiscard]] std::vector<unwind::TrapFrameLayout> x86_64_entries(const elf::Image& kernel);

}  // namespace ringside::guestos
