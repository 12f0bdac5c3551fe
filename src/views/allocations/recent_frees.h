#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/erasable_table.h"

namespace ringside::views {

// Pointers that were freed: a free of one where no block is live is a double free. The last kMost
// frees of all allocators together are remembered.
class RecentFrees {
 public:
  static constexpr std::size_t kMost = 1 << 20;  // about 50 MB

  void add(std::uint32_t allocator, std::uint64_t pointer) {
    const std::uint64_t key = key_of(allocator, pointer);
    if (ring_.size() < kMost) {
      ring_.push_back(key);
    } else {
      std::uint64_t& oldest = ring_[count_ % kMost];
      const std::uint64_t* const freed = numbers_.find(oldest);
      if (freed != nullptr && *freed + kMost == count_) numbers_.erase(oldest);
      oldest = key;
    }
    numbers_.set(key, count_++);
  }
  [[nodiscard]] bool has(std::uint32_t allocator, std::uint64_t pointer) {
    return numbers_.find(key_of(allocator, pointer)) != nullptr;
  }

 private:
  // Two pointers of several allocators have the same key once in 2^64 pairs.
  [[nodiscard]] static std::uint64_t key_of(std::uint32_t allocator, std::uint64_t pointer) {
    return pointer ^ mixed(allocator);
  }

  std::vector<std::uint64_t> ring_;       // the keys of the last frees
  ErasableTable<std::uint64_t> numbers_;  // of the frees, by key
  std::uint64_t count_ = 0;
};

}  // namespace ringside::views
