#pragma once

#include <algorithm>

#include "base/byte_reader.h"
#include "base/memory_reader.h"

namespace ringside::testing {

// Memory that holds bytes from an address up, and nothing elsewhere. The bytes must outlive it.
template <class AddressType>
class BytesMemory final : public MemoryReader<AddressType> {
 public:
  BytesMemory(AddressType start, Bytes bytes) : start_(start), bytes_(bytes) {}
  [[nodiscard]] Result<std::size_t> read_up_to(AddressType address,
                                               std::span<std::byte> destination) override {
    const std::uint64_t offset = address.value - start_.value;
    if (offset >= bytes_.size()) return std::size_t{0};
    const std::size_t count = std::min<std::size_t>(destination.size(), bytes_.size() - offset);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), count, destination.begin());
    return count;
  }

 private:
  AddressType start_;
  Bytes bytes_;
};

}  // namespace ringside::testing
