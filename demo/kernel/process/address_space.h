#pragma once

#include "core/types.h"

// Four-level page tables of one process. The upper half is the kernel's.
class AddressSpace {
 public:
  AddressSpace();

  // Maps a zeroed page for ring 3, unless there is one already; returns where the kernel sees it.
  void* add_page(u64 address);

  u64 root() const;  // physical

 private:
  u64* top_;
};
