#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/memory_reader.h"

namespace ringside::memory {

// Keeps whole 4 KiB pages of another memory, so that each is read once: the tables of a page walk,
// or code that several files are compared with. Its pages grow old: forget() before the next look
// at a guest that has run. Holds at most `pages` pages; when it is full it begins anew.
template <class AddressType>
class PageCache final : public MemoryReader<AddressType> {
 public:
  explicit PageCache(MemoryReader<AddressType>& source, std::size_t pages = 256)
      : source_(&source), limit_(pages) {}

  [[nodiscard]] Result<std::size_t> read_up_to(AddressType address,
                                               std::span<std::byte> destination) override;
  void forget() { pages_.clear(); }

 private:
  [[nodiscard]] Result<const std::vector<std::byte>*> page_at(AddressType page);

  MemoryReader<AddressType>* source_;
  std::size_t limit_;
  std::unordered_map<AddressType, std::vector<std::byte>> pages_;  // shorter where memory ends
};

extern template class PageCache<GuestPhys>;
extern template class PageCache<GuestVirt>;

}  // namespace ringside::memory
