#pragma once

#include "memory/radix_walk.h"

namespace ringside::memory {

// Entries of x86's page tables (Intel SDM, volume 3A, chapter 4).
class X86EntryFormat final : public EntryFormat {
 public:
  // `address_mask`: of an entry, the table's or the smallest page's address. `pse36`: 4 MiB pages
  // keep bits 39:32 of their address in bits 20:13 (table 4-4).
  explicit X86EntryFormat(std::uint64_t address_mask, bool pse36 = false)
      : address_mask_(address_mask), pse36_(pse36) {}

  [[nodiscard]] PageEntry decode(std::uint64_t entry, const RadixLevel& level, bool last,
                                 GuestVirt) const override {
    constexpr std::uint64_t kPresent = 1;
    constexpr std::uint64_t kPageSize = 1u << 7;
    if ((entry & kPresent) == 0) return {};
    const bool is_page = last || (level.may_be_page && (entry & kPageSize) != 0);
    if (!is_page) return {PageEntry::Kind::kTable, GuestPhys{entry & address_mask_}};
    std::uint64_t address = entry & address_mask_ & ~low_bits(level.shift);
    if (pse36_ && level.shift == 22) address |= (entry >> 13 & 0xff) << 32;
    return {PageEntry::Kind::kPage, GuestPhys{address}};
  }

 private:
  std::uint64_t address_mask_;
  bool pse36_;
};

}  // namespace ringside::memory
