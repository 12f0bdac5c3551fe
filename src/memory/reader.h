#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "base/result.h"
#include "base/types.h"

namespace ringside::memory {

// Memory that is read by addresses of one kind. Sources implement one call; the others stand on it.
template <class AddressType>
class Reader {
 public:
  virtual ~Reader() = default;

  // Reads from `address` up. Returns how many bytes from the start could be read: fewer than asked,
  // down to 0, where memory ends. An error means that the source itself failed.
  [[nodiscard]] virtual Result<std::size_t> read_up_to(AddressType address,
                                                       std::span<std::byte> destination) = 0;

  // All of it, or kUnreadable with the address of the first byte that is missing.
  [[nodiscard]] Result<void> read(AddressType address, std::span<std::byte> destination) {
    RINGSIDE_ASSIGN(const std::size_t got, read_up_to(address, destination));
    if (got < destination.size())
      return fail(ErrorCode::kUnreadable, "guest memory at {} cannot be read", address + got);
    return {};
  }

  // A little-endian number.
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

// The machine's memory. What is not RAM (device registers, holes) is never read: reading a device
// may change it.
using PhysicalMemory = Reader<GuestPhys>;
// An address space.
using VirtualMemory = Reader<GuestVirt>;

}  // namespace ringside::memory
