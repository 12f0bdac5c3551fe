#pragma once

#include "core/types.h"

// Two windows onto physical memory, both made by arch/boot_page_tables.S and shared by every
// address space: the kernel image at -2 GiB, and the first 4 GiB (RAM, local APIC) at the start of
// the upper half.
constexpr u64 kKernelBase = 0xffffffff80000000;
constexpr u64 kDirectMap = 0xffff800000000000;
constexpr u64 kPageSize = 4096;

INLINE void* physical_to_virtual(u64 physical) {
  return reinterpret_cast<void*>(kDirectMap + physical);
}
INLINE u64 direct_map_to_physical(const void* pointer) {
  return reinterpret_cast<u64>(pointer) - kDirectMap;
}
INLINE u64 image_to_physical(const void* pointer) {
  return reinterpret_cast<u64>(pointer) - kKernelBase;
}
