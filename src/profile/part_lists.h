#pragma once

#include <cstdint>

#include "base/pair_table.h"

namespace ringside::profile {

// The recorded stacks of samples, each once: a list of parts, of which each stands on the one that
// it was entered from. Stack 0 has no part. A stack's base has a smaller number than the stack.
class PartLists {
 public:
  // The stack of `part` (a recorded leaf) on the stack `base`.
  std::uint32_t add(std::uint32_t base, std::uint32_t part) {
    if (base == 0 && part == 0) return 0;
    return parts_.intern(base, part) + 1;
  }
  [[nodiscard]] std::uint32_t base(std::uint32_t stack) const { return parts_.first(stack - 1); }
  [[nodiscard]] std::uint32_t part(std::uint32_t stack) const { return parts_.second(stack - 1); }
  // Stacks, stack 0 included.
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(parts_.size() + 1); }

 private:
  PairTable parts_;
};

}  // namespace ringside::profile
