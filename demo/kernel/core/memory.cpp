#include "core/memory.h"

#include "core/layout.h"

extern "C" const char image_end[];

namespace {
u64 g_next;  // physical; 0 before the first allocation
}

void* allocate(u64 bytes) {
  const u64 size = (bytes + kPageSize - 1) & ~(kPageSize - 1);
  u64 expected = 0;
  const u64 start = (reinterpret_cast<u64>(image_end) + kPageSize - 1) & ~(kPageSize - 1);
  __atomic_compare_exchange_n(&g_next, &expected, start, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  void* memory = physical_to_virtual(__atomic_fetch_add(&g_next, size, __ATOMIC_SEQ_CST));
  return memset(memory, 0, size);
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
