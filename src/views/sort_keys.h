#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "views/overhead.h"

namespace ringside::views {

// A set of sort keys.
class SortKeys {
 public:
  explicit SortKeys(const std::vector<SortKey>& keys) {
    for (const SortKey key : keys) has_[static_cast<std::size_t>(key)] = true;
  }
  [[nodiscard]] bool has(SortKey key) const { return has_[static_cast<std::size_t>(key)]; }
  // The number of a frame's code, as far as the keys distinguish code.
  [[nodiscard]] std::uint32_t code_of(const profile::Profile& profile,
                                      const profile::Frame& frame) const {
    if (has(SortKey::kSymbol)) return frame.function;
    return has(SortKey::kDso) ? profile.functions[frame.function].image : 0;
  }

 private:
  std::array<bool, static_cast<std::size_t>(SortKey::kParent) + 1> has_{};
};

}  // namespace ringside::views
