#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/byte_reader.h"

namespace ringside {

// The hosts that ringside runs on have the byte order of the guests and of the files it reads.
static_assert(std::endian::native == std::endian::little);

// A number or a plain structure that begins at `at`. The bytes hold all of it.
template <class T>
requires std::is_trivially_copyable_v<T>
[[nodiscard]] T load(Bytes bytes, std::size_t at = 0) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// A number of `size` bytes, 1 to 8, zero-extended. The bytes hold all of it.
[[nodiscard]] inline std::uint64_t load_unsigned(Bytes bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

// Adds the lower `size` bytes, at most 8.
inline void append(std::uint64_t value, std::size_t size, std::vector<std::byte>& bytes) {
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

}  // namespace ringside
