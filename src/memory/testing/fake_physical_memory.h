#pragma once

#include <algorithm>
#include <vector>

#include "base/memory_reader.h"

namespace ringside::memory::testing {

// RAM from address 0 (or `base`) up, made by hand.
class FakePhysicalMemory final : public PhysicalMemory {
 public:
  explicit FakePhysicalMemory(std::size_t size, GuestPhys start = {}) : bytes(size), base(start) {}

  [[nodiscard]] Result<std::size_t> read_up_to(GuestPhys address,
                                               std::span<std::byte> destination) override {
    ++reads;
    if (error) return tl::unexpected<Error>(*error);
    const std::uint64_t offset = address - base;
    if (offset >= bytes.size()) return 0;
    const std::size_t count = std::min<std::size_t>(destination.size(), bytes.size() - offset);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, destination.begin());
    return count;
  }
  // Writes a little-endian number; `at` must lie inside.
  template <class T>
  void put(GuestPhys at, T value) {
    std::memcpy(bytes.data() + (at - base), &value, sizeof(T));
  }

  std::vector<std::byte> bytes;
  GuestPhys base;
  std::size_t reads = 0;
  std::optional<Error> error;  // what every read gives, if set
};

}  // namespace ringside::memory::testing
