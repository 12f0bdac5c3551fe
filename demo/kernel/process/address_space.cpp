#include "process/address_space.h"

#include "core/layout.h"
#include "core/memory.h"

extern "C" const char boot_pml4[];

namespace {

constexpr u64 kUserPage = 7;  // present, writable, user (Intel SDM vol. 3, 4.5)
constexpr u64 kAddressMask = 0x000ffffffffff000;

// The page that entry `index` points to, made if there is none.
u64* next_level(u64* table, u64 index) {
  if (!table[index]) table[index] = direct_map_to_physical(allocate(kPageSize)) | kUserPage;
  return static_cast<u64*>(physical_to_virtual(table[index] & kAddressMask));
}

}  // namespace

AddressSpace::AddressSpace() : top_(static_cast<u64*>(allocate(kPageSize))) {
  const auto* kernel =
      static_cast<const u64*>(physical_to_virtual(reinterpret_cast<u64>(boot_pml4)));
  memcpy(top_ + 256, kernel + 256, kPageSize / 2);
}

void* AddressSpace::add_page(u64 address) {
  u64* table = top_;
  for (u32 shift = 39; shift > 12; shift -= 9) table = next_level(table, address >> shift & 511);
  return next_level(table, address >> 12 & 511);
}

u64 AddressSpace::root() const { return direct_map_to_physical(top_); }
