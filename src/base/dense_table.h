#pragma once

#include <cstddef>
#include <cstdint>

#include "base/large_vector.h"

namespace ringside {

// A number with its bits mixed, for tables whose size is a power of two: the finaliser of
// MurmurHash3 (Austin Appleby, public domain).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccdULL;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53ULL;
  return value ^ value >> 33;
}

// Finds entries by key, and numbers them 0, 1, 2, … in the order of first sight. Entries stand one
// behind the other; 8 to 16 bytes for each come to them for the search, by open addressing. Where
// there are many, a search takes the time of two places in memory: the slot and the entry.
//
// An Entry is made of its Key alone, and has it as its member `key`. `Hash` gives a key's hash of
// 64 well mixed bits.
template <class Key, class Entry, class Hash>
class DenseTable {
 public:
  // The number of the entry with that key, which is made if it is not there.
  std::uint32_t find_or_add(const Key& key) {
    if (2 * entries_.size() >= slots_.size()) grow();
    std::uint32_t& slot = slot_of(key);
    if (slot == kEmpty) {
      slot = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back(Entry{key});
    }
    return slot;
  }
  // Null if there is none with that key.
  [[nodiscard]] const Entry* find(const Key& key) const {
    if (entries_.empty()) return nullptr;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = Hash()(key) & mask; slots_[at] != kEmpty; at = (at + 1) & mask)
      if (entries_[slots_[at]].key == key) return &entries_[slots_[at]];
    return nullptr;
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] Entry& operator[](std::size_t number) { return entries_[number]; }
  [[nodiscard]] const Entry& operator[](std::size_t number) const { return entries_[number]; }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }
  // Nothing is in the table, and its memory stays.
  void clear() {
    entries_.clear();
    slots_.assign(slots_.size(), kEmpty);
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffff;
  static constexpr std::size_t kFewestSlots = 16;

  // Where the number of the key's entry stands, or the empty slot where it belongs.
  [[nodiscard]] std::uint32_t& slot_of(const Key& key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = Hash()(key) & mask;
    while (slots_[at] != kEmpty && !(entries_[slots_[at]].key == key)) at = (at + 1) & mask;
    return slots_[at];
  }

  void grow() {
    const std::size_t slots = slots_.empty() ? kFewestSlots : 2 * slots_.size();
    slots_.clear();
    slots_.resize(slots, kEmpty);
    for (std::size_t number = 0; number < entries_.size(); ++number)
      slot_of(entries_[number].key) = static_cast<std::uint32_t>(number);
  }

  LargeVector<Entry> entries_;
  LargeVector<std::uint32_t> slots_;  // numbers of entries
};

}  // namespace ringside
