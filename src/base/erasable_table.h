#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
    const std::size_t at = place_of(key);
    return is_used_[at] ? &slots_[at].value : nullptr;
  }
  // Replaces the one that is there.
  void set(std::uint64_t key, const Value& value) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    const std::size_t at = place_of(key);
    if (!is_used_[at]) ++size_;
    is_used_[at] = true;
    slots_[at] = {key, value};
  }
  // False: there was none.
  bool erase(std::uint64_t key) {
    if (size_ == 0) return false;
    std::size_t hole = place_of(key);
    if (!is_used_[hole]) return false;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = (hole + 1) & mask; is_used_[at]; at = (at + 1) & mask) {
      // A value may stand anywhere from its home on, so it may move if the hole is not before that.
      const std::size_t home = mixed(slots_[at].key) & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    is_used_[hole] = false;
    --size_;
    return true;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  // Calls visit(key, value) for each, in no order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t at = 0; at < slots_.size(); ++at)
      if (is_used_[at]) visit(slots_[at].key, slots_[at].value);
  }

 private:
  static constexpr std::size_t kFewestSlots = 16;

  struct Slot {
    std::uint64_t key = 0;
    Value value{};
  };

  // Where the key stands, or the empty slot where it belongs.
  [[nodiscard]] std::size_t place_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = mixed(key) & mask;
    while (is_used_[at] && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    LargeVector<Slot> old(slots_.empty() ? kFewestSlots : 2 * slots_.size());
    std::vector<bool> was_used(old.size());
    old.swap(slots_);
    was_used.swap(is_used_);
    for (std::size_t from = 0; from < old.size(); ++from) {
      if (!was_used[from]) continue;
      const std::size_t at = place_of(old[from].key);
      slots_[at] = old[from];
      is_used_[at] = true;
    }
  }

  LargeVector<Slot> slots_;
  std::vector<bool> is_used_;  // by slot
  std::size_t size_ = 0;
};

}  // namespace ringside
