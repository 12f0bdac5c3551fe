#include "heap/heap.h"

#include "core/layout.h"
#include "core/memory.h"
#include "core/panic.h"
#include "heap/trace.h"

namespace {

// --- pages: the first run that is free

constexpr u64 kPages = 4096;

char* g_memory;  // kPages of them
bool g_is_used[kPages];

u64 find_run(u64 count) {
  u64 run = 0;
  for (u64 page = 0; page < kPages; ++page) {
    run = g_is_used[page] ? 0 : run + 1;
    if (run == count) return page + 1 - count;
  }
  panic("no room for %u pages", count);
}

void mark_pages(u64 first, u64 count, bool is_used) {
  for (u64 page = first; page < first + count; ++page) g_is_used[page] = is_used;
}

// --- blocks: free lists of sizes that are powers of two

constexpr u32 kSmallest = 5, kLargest = 12;  // 32 bytes to a page
constexpr u64 kUsed = 0x75736564, kFree = 0x66726565;

// In front of each block.
struct Header {
  u64 state;
  u64 size_class;  // the block and its header have 2^size_class bytes
};
struct FreeBlock {
  Header header;
  FreeBlock* next;
};

FreeBlock* g_free[kLargest + 1];
u64 g_pages_of_blocks;

u64 class_of(u64 bytes) {
  u64 size_class = kSmallest;
  while ((1ull << size_class) < bytes + sizeof(Header)) ++size_class;
  if (size_class > kLargest) panic("a block of %u bytes: it does not fit into a page", bytes);
  return size_class;
}

Header* header_of(void* block) { return static_cast<Header*>(block) - 1; }

bool is_block(void* block) {
  const u64 at = reinterpret_cast<u64>(block), low = reinterpret_cast<u64>(g_memory);
  return at % sizeof(Header) == 0 && at >= low + sizeof(Header) && at < low + kPages * kPageSize &&
         header_of(block)->state == kUsed;
}

void put_block(FreeBlock* block, u64 size_class) {
  block->header = {kFree, size_class};
  block->next = g_free[size_class];
  g_free[size_class] = block;
}

}  // namespace

extern "C" void grow_heap(u64 size_class) {
  char* const page = static_cast<char*>(physical_to_virtual(allocate_pages(1)));
  ++g_pages_of_blocks;
  for (u64 at = kPageSize; at; at -= 1ull << size_class)
    put_block(reinterpret_cast<FreeBlock*>(page + at - (1ull << size_class)), size_class);
}

namespace {

void* take_block(u64 bytes) {
  const u64 size_class = class_of(bytes);
  if (!g_free[size_class]) grow_heap(size_class);
  FreeBlock* const block = g_free[size_class];
  g_free[size_class] = block->next;
  block->header.state = kUsed;
  return &block->header + 1;
}

}  // namespace

extern "C" u64 allocate_pages(u64 count) {
  if (!g_memory) g_memory = static_cast<char*>(allocate(kPages * kPageSize));
  const u64 first = find_run(count);
  mark_pages(first, count, true);
  char* const start = g_memory + first * kPageSize;
  memset(start, 0, count * kPageSize);
  const u64 physical = direct_map_to_physical(start);
  trace_allocation({Traced::kAlloc, kPageAllocator, physical, 0, count});
  return physical;
}

extern "C" void free_pages(u64 physical, u64 count) {
  trace_allocation({Traced::kFree, kPageAllocator, physical, 0, count});
  const u64 offset = static_cast<char*>(physical_to_virtual(physical)) - g_memory;
  mark_pages(offset / kPageSize, count, false);
}

extern "C" void* kmalloc(u64 bytes) {
  void* const block = take_block(bytes);
  trace_allocation({Traced::kAlloc, kBlockAllocator, reinterpret_cast<u64>(block), 0, bytes});
  return block;
}

extern "C" void* krealloc(void* block, u64 bytes) {
  void* now = block;
  const u64 room = (1ull << header_of(block)->size_class) - sizeof(Header);
  if (bytes > room) {
    now = take_block(bytes);
    memcpy(now, block, room);
    header_of(block)->state = 0;
  }
  trace_allocation({Traced::kRealloc, kBlockAllocator, reinterpret_cast<u64>(now),
                    reinterpret_cast<u64>(block), bytes});
  return now;
}

extern "C" bool kfree(void* block) {
  trace_allocation({Traced::kFree, kBlockAllocator, reinterpret_cast<u64>(block), 0, 0});
  if (!is_block(block)) return false;
  put_block(reinterpret_cast<FreeBlock*>(header_of(block)), header_of(block)->size_class);
  return true;
}

u64 pages_of_blocks() { return g_pages_of_blocks; }
