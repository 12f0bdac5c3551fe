#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

// A number of DWARF's variable length (DWARF 5, section 7.6).
struct Leb128 {
  // Its low 64 bits. A negative number of a signed encoding is sign-extended.
  std::uint64_t value = 0;
  std::size_t bytes = 0;  // that it takes; 0 where the range ends within it

  static constexpr std::size_t kMostBytes = 10;  // of a number of 64 bits
};

template <bool kSigned>
[[nodiscard]] inline Leb128 decode_leb128(const std::byte* begin, const std::byte* end) {
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const std::byte* at = begin; at != end;) {
    const auto byte = std::to_integer<std::uint64_t>(*at++);
    if (shift < 64) value |= (byte & 0x7f) << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    if (kSigned && (byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
    return {value, static_cast<std::size_t>(at - begin)};
  }
  return {};
}

}  // namespace ringside
