#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dense_table.h"

namespace ringside {

// Gives each distinct pair of numbers an id: 0, 1, 2, … in the order of first sight.
class PairTable {
 public:
  std::uint32_t intern(std::uint32_t first, std::uint32_t second) {
    return pairs_.find_or_add({first, second});
  }
  [[nodiscard]] std::size_t size() const { return pairs_.size(); }
  // Nothing is in the table, and its memory stays.
  void clear() { pairs_.clear(); }
  [[nodiscard]] std::uint32_t first(std::size_t id) const { return pairs_[id].key.first; }
  [[nodiscard]] std::uint32_t second(std::size_t id) const { return pairs_[id].key.second; }

 private:
  struct Pair {
    std::uint32_t first;
    std::uint32_t second;
    bool operator==(const Pair&) const = default;
  };
  struct Entry {
    Pair key;
  };
  struct Hash {
    std::uint64_t operator()(const Pair& pair) const {
      return mixed(std::uint64_t{pair.first} << 32 | pair.second);
    }
  };
  DenseTable<Pair, Entry, Hash> pairs_;
};

}  // namespace ringside
