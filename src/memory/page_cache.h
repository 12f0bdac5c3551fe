#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "memory/reader.h"

namespace ringside::memory {

// Keeps whole 4 KiB pages of another physical memory, so that the tables of a page walk are read
// once. What it holds grows old: forget() before the next look at a guest that has run. Holds at
// most `pages` pages; when it is full it begins anew.
class PageCache final : public PhysicalMemory {
 public:
  explicit PageCache(PhysicalMemory& source, std::size_t pages = 256)
      : source_(&source), limit_(pages) {}

  [[nodiscard]] Result<std::size_t> read_up_to(GuestPhys address,
                                               std::span<std::byte> destination) override;
  void forget() { pages_.clear(); }

 private:
  [[nodiscard]] Result<const std::vector<std::byte>*> page_at(GuestPhys page);

  PhysicalMemory* source_;
  std::size_t limit_;
  std::unordered_map<GuestPhys, std::vector<std::byte>> pages_;  // shorter where memory ends
};

}  // namespace ringside::memory
