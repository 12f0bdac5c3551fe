#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/large_vector.h"

namespace ringside::importers::perf_script {

// A text's hash, in its place: 128 bits, and nothing but a name depends on them.
struct TextKey {
  explicit TextKey(std::string_view text) {
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    low = hash.low64;
    high = hash.high64;
  }
  TextKey() = default;

  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const TextKey&) const = default;
};

// Values of texts that were seen before. A search takes the time of one place in memory, and
// prefetch() may hide that. Where there are too many it forgets all of them.
template <class Value, std::size_t most>
class TextCache {
 public:
  void prefetch(const TextKey& key) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[key.low & (slots_.size() - 1)]);
  }
  // Null if it is not known. Valid until the next call of add().
  [[nodiscard]] Value* find(const TextKey& key) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slot_of(key);
    return slot.is_used ? &slot.value : nullptr;
  }
  // The value of a text that is not known, to be filled.
  [[nodiscard]] Value& add(const TextKey& key) {
    if (count_ == most) clear();
    if (2 * count_ >= slots_.size()) grow();
    ++count_;
    Slot& slot = slot_of(key);
    slot.key = key;
    slot.is_used = true;
    slot.value = {};
    return slot.value;
  }
  [[nodiscard]] bool is_full() const { return count_ == most; }
  // Keeps the memory.
  void clear() {
    for (Slot& slot : slots_) slot.is_used = false;
    count_ = 0;
  }

 private:
  static constexpr std::size_t kFewestSlots = 64;
  struct Slot {
    TextKey key;
    Value value;
    bool is_used = false;
  };

  // That of the text, or the one where it belongs.
  [[nodiscard]] Slot& slot_of(const TextKey& key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = key.low & mask;
    while (slots_[at].is_used && !(slots_[at].key == key)) at = (at + 1) & mask;
    return slots_[at];
  }

  void grow() {
    LargeVector<Slot> old(slots_.empty() ? kFewestSlots : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.is_used) slot_of(slot.key) = slot;
  }

  LargeVector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace ringside::importers::perf_script
