#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ringside::exporters {

// Brings rows that are nearly in order of time into order: it hands one on when so many others
// came behind it. Rows of one time stay in their order. A Row has a member `time`.
template <class Row>
class TimeWindow {
 public:
  // `most` is how many rows it holds, at least 1.
  explicit TimeWindow(std::size_t most) : most_(most) {}

  // Calls take(row) for the earliest row where it is full.
  template <class Take>
  void add(const Row& row, const Take& take) {
    rows_.push_back({row, added_++});
    std::push_heap(rows_.begin(), rows_.end(), is_later);
    if (rows_.size() > most_) take(pop());
  }
  // Calls take(row) for all that it still holds.
  template <class Take>
  void finish(const Take& take) {
    while (!rows_.empty()) take(pop());
  }

 private:
  struct Entry {
    Row row;
    std::uint64_t number = 0;
  };
  static bool is_later(const Entry& a, const Entry& b) {
    return std::pair(a.row.time, a.number) > std::pair(b.row.time, b.number);
  }
  Row pop() {
    std::pop_heap(rows_.begin(), rows_.end(), is_later);
    const Row first = rows_.back().row;
    rows_.pop_back();
    return first;
  }

  std::size_t most_;
  std::uint64_t added_ = 0;
  std::vector<Entry> rows_;  // a heap
};

}  // namespace ringside::exporters
