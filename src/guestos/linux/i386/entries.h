#pragma once

#include <vector>

#include "elf/image_map.h"
#include "unwind/trap_frame_layout.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos {

// Frames that Linux's entry code for i386 (arch/x86/entry/entry_32.S, 5.5 to 6.x) leaves on the
// stack: a struct pt_regs at the stack pointer wherever it calls C code. FIXUP_FRAME gives
// interrupts of the kernel, for which hardware pushes no stack pointer, a full one too. Elsewhere
// in the entry code only its instructions show it.
[[nodiscard]] std::vector<unwind::TrapFrameLayout> i386_entries(const elf::Image& kernel);

// Behind copy_stacks(): SWITCH_TO_KERNEL_STACK moves the frame of an entry from user
// mode to the task's stack with `rep movsl`. While it does, the rest of the frame is at esi, on a
// stack that is not copied otherwise.
void copy_frame_in_transit(wire::RecipeBuilder& recipe);

}  // namespace ringside::guestos
