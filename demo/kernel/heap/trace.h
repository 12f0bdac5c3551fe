#pragma once

#include "core/types.h"

// Traces the allocators to where trace= says: as Maestro's kernel does, to COM2
// (trace=memtrace; maestro-os/maestro @ 3569e232), or into the rings of ringside's guest library
// (trace=ringside).

inline constexpr const char* kPageAllocator = "buddy";    // physical addresses, sizes in pages
inline constexpr const char* kBlockAllocator = "malloc";  // virtual addresses, sizes in bytes

enum class Traced : u8 { kAlloc, kRealloc, kFree };

struct TracedAllocation {
  Traced what;
  const char* allocator;
  u64 pointer;
  u64 old;   // a realloc's before
  u64 size;  // of a free: 0 where it is not known
};

// Reads the command line. To be called before the rings are made.
void choose_allocation_trace();
bool traces_into_rings();

// To be called by an allocator's function itself: the stack begins there.
void trace_allocation(const TracedAllocation& what);

// Events so far: the number of the last, from 1; of one allocator, or of all.
u64 traced_events(const char* allocator = nullptr);
