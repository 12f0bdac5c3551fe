#pragma once

#include "core/types.h"

// Two allocators as kernels have them: pages, and blocks of bytes that lie in such pages. Each
// reports what it does to the allocation trace (heap/trace.h). For one vCPU.

// Zeroed pages. Returns their physical address; panics where there is no room.
extern "C" u64 allocate_pages(u64 count);
// `count` is what they were allocated with.
extern "C" void free_pages(u64 physical, u64 count);

extern "C" void* kmalloc(u64 bytes);
// The block stays where it is if it has room, else its content moves. The place that it has left is
// not used again, so that a trace which names a moved block by that place stays right about it.
extern "C" void* krealloc(void* block, u64 bytes);
// Returns false, and does nothing, where no block is in use there.
extern "C" bool kfree(void* block);

// Pages that blocks lie in; they are never given back.
u64 pages_of_blocks();
