#include "exporters/parts/samples_by_thread.h"

#include <algorithm>
#include <numeric>

namespace ringside::exporters {

void SamplesByThread::sample(const profile::TimedSample& sample) {
  if (sample.source != source_) return;
  groups_.push_back(sample.group);
  times_.push_back(sample.time);
}

void SamplesByThread::sort(const ThreadTable& table) {
  starts_.assign(table.threads().size() + 1, 0);
  for (const std::uint32_t group : groups_) ++starts_[table.of(profile_, group) + 1];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
  order_.resize(groups_.size());
  for (std::uint32_t index = 0; index < groups_.size(); ++index)
    order_[next[table.of(profile_, groups_[index])]++] = index;
  const auto is_earlier = [this](std::uint32_t a, std::uint32_t b) {
    return times_[a] < times_[b];
  };
  for (std::size_t thread = 0; thread + 1 < starts_.size(); ++thread) {
    const auto first = order_.begin() + static_cast<std::ptrdiff_t>(starts_[thread]);
    const auto last = order_.begin() + static_cast<std::ptrdiff_t>(starts_[thread + 1]);
    if (!std::is_sorted(first, last, is_earlier)) std::stable_sort(first, last, is_earlier);
  }
}

}  // namespace ringside::exporters
