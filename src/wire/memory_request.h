#pragma once

#include <cstdint>

#include "base/types.h"
#include "wire/capture.h"

namespace ringside::wire {

// A read that a run of a recipe wants (recipe.h).
struct MemoryRequest {
  enum class What : std::uint8_t {
    kLoad,    // a value of `size` bytes; the run cannot go on before loaded() has been called
    kCopy,    // a piece
    kString,  // a piece that ends in front of its first zero byte
    kValue,   // a piece with the bytes of `value`; nothing is read
  };

  What what = What::kCopy;
  GuestVirt address = {};  // that the piece is recorded under
  GuestVirt read_at = {};
  std::uint32_t size = 0;
  PieceKind why = PieceKind::kSystem;
  std::uint16_t tag = 0;
  std::uint64_t value = 0;
  std::uint32_t requested = 0;  // bytes from `address` on that were asked for; 0: `size`

  [[nodiscard]] bool is_load() const { return what == What::kLoad; }
};

}  // namespace ringside::wire
