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

  // A thread is one of a process.
  [[nodiscard]] bool has_process() const {
    return has(SortKey::kPid) || has(SortKey::kTid) || has(SortKey::kTask);
  }

 private:
  std::array<bool, static_cast<std::size_t>(SortKey::kParent) + 1> has_{};
};

}  // namespace ringside::views
