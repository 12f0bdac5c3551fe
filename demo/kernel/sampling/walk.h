#pragma once

#include <ringside_guest.h>

#include "arch/cpu.h"
#include "sampling/saved_registers.h"

// The kernel's part of a stack, from where its code was interrupted, over the stacks of all
// interrupts that it handles. `frames` has room for RINGSIDE_MAX_FRAMES.
ringside_stack walk_kernel(const SavedRegisters& interrupted, uintptr_t* frames);

// Ring 3's registers, where the running thread has entered the kernel from there; null where it has
// not, and while threads are switched: the current one is not the one whose stack is in use then.
const SavedRegisters* entered_from(const Cpu& cpu, const SavedRegisters& interrupted);

// The user code's part, by its frame pointers; of a program without them the pc alone is right.
ringside_stack walk_user(const SavedRegisters& entered, uintptr_t* frames);
