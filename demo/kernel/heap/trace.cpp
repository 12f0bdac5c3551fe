#include "heap/trace.h"

#include <ringside_guest.h>

#include "arch/cpu.h"
#include "arch/serial_port.h"
#include "core/command_line.h"
#include "core/panic.h"
#include "core/thread.h"

namespace {

enum class Way { kNone, kMemtrace, kRings };
constexpr u32 kMostFrames = 64;  // of memtrace

Way g_way;
u64 g_page_events, g_block_events;

template <class T>
INLINE void write(const T& value) {
  write_port(kCom2, reinterpret_cast<const char*>(&value), sizeof(value));
}

// An unaligned record: its allocator's name, what was done, pointer, size, return addresses. A
// realloc has the pointer before.
void write_memtrace(const TracedAllocation& what, const ringside_stack& stack) {
  u8 length = 0;
  while (what.allocator[length]) ++length;
  write(length);
  write_port(kCom2, what.allocator, length);
  write(what.what);
  write(what.what == Traced::kRealloc ? what.old : what.pointer);
  write(what.size);
  write(static_cast<u8>(stack.count));
  for (u32 i = 0; i < stack.count; ++i) write(stack.frames[i]);
}

void put_into_ring(const TracedAllocation& what, const ringside_stack& stack) {
  const ringside_allocation allocation{
      .operation = static_cast<ringside_operation>(what.what),
      .unit = what.allocator == kPageAllocator ? RINGSIDE_IN_PAGES : RINGSIDE_IN_BYTES,
      .allocator = what.allocator,
      .pointer = what.pointer,
      .old = what.old,
      .size = what.size};
  ringside_allocated(this_cpu().id, &allocation, nullptr, &stack);
}

}  // namespace

void choose_allocation_trace() {
  char buffer[64];
  const char* name = option("trace", buffer);
  if (!name) return;
  if (same_text(name, "memtrace")) {
    g_way = Way::kMemtrace;
    start_port(kCom2);
  } else if (same_text(name, "ringside")) {
    g_way = Way::kRings;
  } else {
    panic("trace=%s: memtrace or ringside", name);
  }
}

bool traces_into_rings() { return g_way == Way::kRings; }

u64 traced_events(const char* allocator) {
  if (allocator == kPageAllocator) return g_page_events;
  if (allocator == kBlockAllocator) return g_block_events;
  return g_page_events + g_block_events;
}

void trace_allocation(const TracedAllocation& what) {
  ++(what.allocator == kPageAllocator ? g_page_events : g_block_events);
  if (g_way == Way::kNone) return;
  const Thread& thread = *this_cpu().current;
  static uintptr_t frames[RINGSIDE_MAX_FRAMES];
  ringside_stack stack =
      ringside_walk_callers(thread.kernel_stack - kThreadStackBytes, thread.kernel_stack, frames);
  if (g_way == Way::kRings) return put_into_ring(what, stack);
  if (stack.count > kMostFrames) stack.count = kMostFrames;
  write_memtrace(what, stack);
}
