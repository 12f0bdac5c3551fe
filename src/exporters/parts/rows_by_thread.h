#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/large_vector.h"

namespace ringside::exporters {

// Rows of samples by thread, those of one thread in order of time; those of one time stay in their
// order. 4 bytes a row.
class RowsByThread {
 public:
  static constexpr std::uint32_t kNoThread = 0xffffffff;

  RowsByThread() = default;
  // `times`: by row. `thread_at(row)` is below `threads`, or kNoThread for a row that is left out.
  template <class Times, class ThreadOf>
  RowsByThread(std::size_t threads, const Times& times, const ThreadOf& thread_at)
      : ends_(threads + 2) {
    const auto count = static_cast<std::uint32_t>(times.size());
    for (std::uint32_t row = 0; row < count; ++row)
      if (const std::uint32_t thread = thread_at(row); thread != kNoThread) ++ends_[thread + 2];
    for (std::size_t i = 2; i < ends_.size(); ++i) ends_[i] += ends_[i - 1];
    rows_.resize(ends_.back());
    for (std::uint32_t row = 0; row < count; ++row)
      if (const std::uint32_t thread = thread_at(row); thread != kNoThread)
        rows_[ends_[thread + 1]++] = row;
    const auto is_earlier = [&](std::uint32_t a, std::uint32_t b) { return times[a] < times[b]; };
    for (std::size_t thread = 0; thread < threads; ++thread) {
      const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(ends_[thread]);
      const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(ends_[thread + 1]);
      if (!std::is_sorted(first, last, is_earlier)) std::stable_sort(first, last, is_earlier);
    }
  }

  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t thread) const {
    return std::span(rows_).subspan(ends_[thread], ends_[thread + 1] - ends_[thread]);
  }

 private:
  std::vector<std::size_t> ends_;  // of the thread before
  LargeVector<std::uint32_t> rows_;
};

}  // namespace ringside::exporters
