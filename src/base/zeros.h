#pragma once

#include <algorithm>

#include "base/byte_reader.h"

namespace ringside {

// How many bytes from the start of `bytes` on are 0.
[[nodiscard]] inline std::size_t leading_zeros(Bytes bytes) {
  const auto end =
      std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
  return static_cast<std::size_t>(end - bytes.begin());
}

[[nodiscard]] inline bool is_zero(Bytes bytes) { return leading_zeros(bytes) == bytes.size(); }

}  // namespace ringside
