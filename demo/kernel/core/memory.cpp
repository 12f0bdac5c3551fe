#include "core/memory.h"

#include "arch/fw_cfg.h"
#include "core/layout.h"
#include "core/panic.h"

extern "C" const char image_end[];

namespace {

u64 g_next;  // physical; 0 before the first allocation
u64 g_end;

// The first allocation is the boot CPU's, before there are others.
u64 end_of_memory() {
  constexpr u64 kFirstHole = 3ull << 30;  // of QEMU's PC machines at the least
  if (!g_end) g_end = read_fw_cfg(kFwCfgRamBytes, 8);
  return g_end < kFirstHole ? g_end : kFirstHole;
}

}  // namespace

void* allocate(u64 bytes) {
  const u64 size = (bytes + kPageSize - 1) & ~(kPageSize - 1);
  u64 expected = 0;
  const u64 start = (reinterpret_cast<u64>(image_end) + kPageSize - 1) & ~(kPageSize - 1);
  __atomic_compare_exchange_n(&g_next, &expected, start, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  const u64 end = end_of_memory();
  const u64 physical = __atomic_fetch_add(&g_next, size, __ATOMIC_SEQ_CST);
  if (size > end || physical > end - size)
    panic("no room for %u bytes: the machine has %u MiB of memory", size, g_end >> 20);
  return memset(physical_to_virtual(physical), 0, size);
}

extern "C" void* memcpy(void* to, const void* from, size_t bytes) {
  void* result = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  return result;
}

extern "C" void* memset(void* to, int value, size_t bytes) {
  void* result = to;
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
  return result;
}
