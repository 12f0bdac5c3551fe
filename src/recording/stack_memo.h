#pragma once

#include <xxhash.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/dense_table.h"
#include "base/stack.h"

namespace ringside::recording {

// Remembers the node of a whole stack by a 128-bit hash of its frames, so that a stack that was
// seen before costs one look-up instead of two a frame.
class StackMemo {
 public:
  struct Key {
    std::uint64_t low;
    std::uint64_t high;
    bool operator==(const Key&) const = default;
  };

  [[nodiscard]] Key key_of(const Stack& stack, std::uint64_t address_space) {
    words_.clear();
    words_.push_back(address_space);
    for (const Frame& frame : stack.frames) {
      words_.push_back(frame.address.value);
      words_.push_back(std::uint64_t{frame.exact} | static_cast<std::uint64_t>(frame.source) << 8 |
                       static_cast<std::uint64_t>(frame.kind) << 16 |
                       std::uint64_t{frame.image} << 32);
    }
    const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof(words_[0]));
    return {hash.low64, hash.high64};
  }
  // The node that was noted with this key; a reference to nothing is to be filled.
  [[nodiscard]] std::optional<std::uint32_t>& node(const Key& key) {
    return nodes_[nodes_.find_or_add(key)].node;
  }
  // To be called when a mapping changes: the same address may be another frame now.
  void clear() { nodes_.clear(); }

 private:
  struct Entry {
    Key key;
    std::optional<std::uint32_t> node = {};
  };
  struct Hash {
    std::uint64_t operator()(const Key& key) const { return key.low; }
  };
  DenseTable<Key, Entry, Hash> nodes_;
  std::vector<std::uint64_t> words_;  // reused
};

}  // namespace ringside::recording
