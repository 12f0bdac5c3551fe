#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace ringside::profile {

// Recorded frames that the stacks of a file of so many bytes may have together. Each part of a
// stack is placed on each other part that it was sampled on: a small file could make very many of
// few.
[[nodiscard]] inline std::uint64_t most_nodes(std::uint64_t size) {
  constexpr std::uint64_t kAnyFile = 1 << 20;
  constexpr std::uint64_t kForEachByte = 6;
  // NodeId numbers them, and those of inlined functions.
  constexpr std::uint64_t kAnySize = 1 << 30;
  return std::min(kAnySize, kAnyFile + kForEachByte * size);
}

// The sentence about weights beyond what a Weight can be.
inline constexpr const char* kTooHeavy =
    "the weight of some samples is left out: no recording's weights add up to 2^63";

// The sentence that reports those that are left out.
[[nodiscard]] inline std::string beyond_nodes(std::uint64_t most_nodes) {
  return fmt::format(
      "stacks beyond {} frames in all are left out: no recording of this size has as many",
      most_nodes);
}

}  // namespace ringside::profile
