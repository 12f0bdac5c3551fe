#include "core/command_line.h"
#include "core/console.h"
#include "core/steady_clock.h"
#include "heap/heap.h"
#include "heap/trace.h"
#include "workloads/work.h"
#include "workloads/workload.h"

// Allocations whose live bytes, leaks and lifetimes are counted here as they happen, for each
// function that allocates, apart from any trace. Growth of a block counts as allocated, a
// loss as freed. A lifetime is the number of the allocator's traced events from an allocation to
// its free.

namespace {

constexpr const char* kFunctions[] = {"use_memory"};
constexpr u64 kUse = 2000;  // iterations

struct Site {
  const char* name;
  const char* allocator;
  u64 allocations = 0, allocated = 0;  // count; bytes or pages
  u64 frees = 0, freed = 0, lifetimes = 0;
  u64 live = 0, live_size = 0;
  u64 moves = 0;  // by reallocations
};

enum SiteNumber : u32 {
  kOpenSession,
  kReadBlock,
  kCacheInsert,
  kGrowInPlace,
  kGrowAndMove,
  kCloseTwice,
  kMapBuffer,
  kSites
};
constinit Site g_sites[kSites] = {
    {.name = "open_session", .allocator = kBlockAllocator},
    {.name = "read_block", .allocator = kBlockAllocator},
    {.name = "cache_insert", .allocator = kBlockAllocator},
    {.name = "grow_in_place", .allocator = kBlockAllocator},
    {.name = "grow_and_move", .allocator = kBlockAllocator},
    {.name = "close_twice", .allocator = kBlockAllocator},
    {.name = "map_buffer", .allocator = kPageAllocator},
};
u64 g_round, g_double_frees, g_unknown_frees, g_most_bytes, g_most_pages;

struct Block {
  u64 at;  // 0: none
  u64 size;
  u64 event;  // its allocation's number
};

void note_most() {
  u64 bytes = 0, pages = pages_of_blocks();
  for (const Site& site : g_sites)
    (site.allocator == kPageAllocator ? pages : bytes) += site.live_size;
  if (bytes > g_most_bytes) g_most_bytes = bytes;
  if (pages > g_most_pages) g_most_pages = pages;
}

INLINE Block allocated(SiteNumber number, u64 at, u64 size) {
  Site& site = g_sites[number];
  ++site.allocations;
  site.allocated += size;
  ++site.live;
  site.live_size += size;
  note_most();
  return {at, size, traced_events(site.allocator)};
}

INLINE void resized(SiteNumber number, Block& block, u64 at, u64 size) {
  Site& site = g_sites[number];
  site.live_size += size - block.size;
  (size > block.size ? site.allocated : site.freed) +=
      size > block.size ? size - block.size : block.size - size;
  if (at != block.at) ++site.moves;
  block.at = at;
  block.size = size;
  note_most();
}

// After the allocator's own free.
INLINE void freed(SiteNumber number, Block& block) {
  Site& site = g_sites[number];
  ++site.frees;
  site.freed += block.size;
  site.lifetimes += traced_events(site.allocator) - block.event;
  --site.live;
  site.live_size -= block.size;
  block.at = 0;
}

INLINE u64 place(void* block) { return reinterpret_cast<u64>(block); }
INLINE void* pointer(const Block& block) { return reinterpret_cast<void*>(block.at); }
INLINE void free_block(SiteNumber number, Block& block) {
  if (!block.at) return;
  kfree(pointer(block));
  freed(number, block);
}

// Those of the last rounds.
template <u32 Count>
INLINE Block& oldest(Block (&blocks)[Count]) {
  return blocks[g_round % Count];
}

Block g_cache[16], g_grown[8], g_moved[4], g_buffers[3];

}  // namespace

extern "C" void use_memory(u64 n) { work(0, n); }

// A leak.
extern "C" void open_session() {
  const u64 size = 100 + g_round % 3 * 50;
  allocated(kOpenSession, place(kmalloc(size)), size);
}

extern "C" void read_block() {
  Block block = allocated(kReadBlock, place(kmalloc(1000)), 1000);
  use_memory(kUse);
  free_block(kReadBlock, block);
}

extern "C" void cache_evict() { free_block(kCacheInsert, oldest(g_cache)); }

extern "C" void cache_insert() {
  const u64 size = 24 + g_round % 5 * 8;
  oldest(g_cache) = allocated(kCacheInsert, place(kmalloc(size)), size);
}

extern "C" void grow_in_place() {
  Block& block = oldest(g_grown);
  free_block(kGrowInPlace, block);
  block = allocated(kGrowInPlace, place(kmalloc(20)), 20);
  resized(kGrowInPlace, block, place(krealloc(pointer(block), 48)), 48);
  resized(kGrowInPlace, block, place(krealloc(pointer(block), 30)), 30);
}

extern "C" void grow_and_move() {
  Block& block = oldest(g_moved);
  free_block(kGrowAndMove, block);
  block = allocated(kGrowAndMove, place(kmalloc(40)), 40);
  resized(kGrowAndMove, block, place(krealloc(pointer(block), 400)), 400);
}

extern "C" void close_twice() {
  Block block = allocated(kCloseTwice, place(kmalloc(2000)), 2000);
  void* const at = pointer(block);
  free_block(kCloseTwice, block);
  if (!kfree(at)) ++g_double_frees;
}

extern "C" void free_unknown() {
  static u64 words[4];
  if (!kfree(&words[2])) ++g_unknown_frees;
}

extern "C" void map_buffer() {
  Block& block = oldest(g_buffers);
  if (block.at) {
    free_pages(block.at, block.size);
    freed(kMapBuffer, block);
  }
  const u64 count = 1 + g_round % 4;
  block = allocated(kMapBuffer, allocate_pages(count), count);
}

namespace {

void print_memory() {
  for (const Site& site : g_sites) {
    print(
        "ringside-demo: memory site=%s allocator=%s allocations=%u allocated=%u frees=%u freed=%u ",
        site.name, site.allocator, site.allocations, site.allocated, site.frees, site.freed);
    print("lifetimes=%u live=%u live_size=%u moves=%u\n", site.lifetimes, site.live, site.live_size,
          site.moves);
  }
  print(
      "ringside-demo: memory events=%u double_frees=%u unknown_frees=%u most_bytes=%u "
      "most_pages=%u "
      "block_pages=%u\n",
      traced_events(), g_double_frees, g_unknown_frees, g_most_bytes, g_most_pages,
      pages_of_blocks());
}

}  // namespace

extern "C" void allocations_round() {
  static const u64 rounds = number_option("rounds", 0);
  static const bool lingers = number_option("linger", 0) != 0;
  if (rounds && g_round == rounds) {
    print_memory();
    if (!lingers) end_steady_clock();
    ++g_round;
  }
  if (rounds && g_round > rounds) return use_memory(kUse);
  open_session();
  cache_evict();
  cache_insert();
  read_block();
  grow_in_place();
  grow_and_move();
  if (g_round % 7 == 0) close_twice();
  if (g_round % 11 == 0) free_unknown();
  map_buffer();
  ++g_round;
}

constinit const Workload allocations_workload = {
    .name = "allocations",
    .summary =
        "allocates, reallocates and leaks on one vCPU; rounds=N ends it and prints the truth",
    .functions = kFunctions,
    .function_count = 1,
    .threads_per_vcpu = 1,
    .only_vcpu0 = true,
    .ticks = true,
    .prepare = nullptr,
    .round = allocations_round,
    .start_processes = nullptr,
};
