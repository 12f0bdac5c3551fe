#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace ringside {

// Memory that is read by addresses of one kind: the one way in which guest memory is read. A source
// implements one call; the others stand on it. A source that wraps another one adds page tables
// (memory::AddressSpace), a cache (memory::PageCache) or a limit. The guest may change what is read
// meanwhile, unless a source states otherwise.
template <class AddressType>
class MemoryReader {
 public:
  virtual ~MemoryReader() = default;

  // Reads from `address` up. Returns how many bytes from the start could be read: fewer than asked,
  // down to 0, where memory ends or a page is not mapped. An error is a failure of the source (its
  // connection was lost), not of the memory.
  [[nodiscard]] virtual Result<std::size_t> read_up_to(AddressType address,
                                                       std::span<std::byte> destination) = 0;

  // All of it, or kUnreadable with the address of the first byte that is missing.
  [[nodiscard]] Result<void> read(AddressType address, std::span<std::byte> destination) {
    RINGSIDE_ASSIGN(const std::size_t got, read_up_to(address, destination));
    if (got < destination.size())
      return fail(ErrorCode::kUnreadable, "guest memory at {} cannot be read", address + got);
    return {};
  }

  // At most `size` bytes; fewer where memory ends.
  [[nodiscard]] Result<std::vector<std::byte>> read_bytes(AddressType address, std::size_t size) {
    std::vector<std::byte> bytes(size);
    RINGSIDE_ASSIGN(const std::size_t got, read_up_to(address, bytes));
    bytes.resize(got);
    return bytes;
  }

  // A little-endian number of `size` bytes, 1 to 8, zero-extended; nothing where memory ends
  // within it.
  [[nodiscard]] Result<std::optional<std::uint64_t>> read_word(AddressType address,
                                                               std::size_t size) {
    std::array<std::byte, sizeof(std::uint64_t)> bytes{};
    RINGSIDE_ASSIGN(const std::size_t got, read_up_to(address, std::span(bytes).first(size)));
    if (got < size) return std::nullopt;
    std::uint64_t value;
    std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }

  // A little-endian number, or kUnreadable as from read().
  template <class T>
  requires std::is_integral_v<T>
  [[nodiscard]] Result<T> read_value(AddressType address) {
    std::array<std::byte, sizeof(T)> bytes;
    RINGSIDE_TRY(read(address, bytes));
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
};

// The machine's memory. Only RAM is read: a read of a device's registers may change the device.
using PhysicalMemory = MemoryReader<GuestPhys>;
// An address space.
using VirtualMemory = MemoryReader<GuestVirt>;

}  // namespace ringside
