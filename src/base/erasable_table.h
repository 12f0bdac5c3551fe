#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/dense_table.h"
#include "base/large_vector.h"

namespace ringside {

// Finds values by numbers, and forgets them again: the memory is that of the most values that there
// were at once. Open addressing; a value that goes draws those behind it nearer, so that no mark of
// it stays.
template <class Value>
class ErasableTable {
 public:
  // Null if there is none. Valid until the next change.
  [[nodiscard]] Value* find(std::uint64_t key) {
    if (size_ == 0) return nullptr;
    Slot& slot = slots_[place_of(key)];
    return slot.is_used ? &slot.value : nullptr;
  }
  // Replaces the one that is there.
  void set(std::uint64_t key, const Value& value) {
    if (2 * size_ >= slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    if (!slot.is_used) ++size_;
    slot = {key, value, true};
  }
  // False: there was none.
  bool erase(std::uint64_t key) {
    if (size_ == 0) return false;
    std::size_t hole = place_of(key);
    if (!slots_[hole].is_used) return false;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (hole + 1) & mask; slots_[at].is_used; at = (at + 1) & mask) {
      // A value may stand anywhere from its home on, so it may move if the hole is not before that.
      const std::size_t home = mixed(slots_[at].key) & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].is_used = false;
    --size_;
    return true;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  // Calls visit(key, value) for each, in no order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_)
      if (slot.is_used) visit(slot.key, slot.value);
  }

 private:
  static constexpr std::size_t kFewestSlots = 16;

  struct Slot {
    std::uint64_t key = 0;
    Value value{};
    bool is_used = false;
  };

  // Where the key stands, or the empty slot where it belongs.
  [[nodiscard]] std::size_t place_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = mixed(key) & mask;
    while (slots_[at].is_used && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    LargeVector<Slot> old(slots_.empty() ? kFewestSlots : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.is_used) slots_[place_of(slot.key)] = slot;
  }

  LargeVector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace ringside
