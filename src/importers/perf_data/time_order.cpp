#include "importers/perf_data/time_order.h"

#include <algorithm>
#include <utility>

namespace ringside::importers::perf_data {
namespace {

constexpr std::size_t kHeaderSize = 8;

}  // namespace

Result<void> TimeOrder::add(std::uint64_t time, const RawRecord& record) {
  if (entries_.size() >= kMostRecords || chunks_.size() >= kMostBytes) {
    sort();
    RINGSIDE_TRY(leave((entries_.size() + 1) / 2));
  }
  chunks_.hold(record.chunk);
  if (entries_.empty() || time < entries_.back().time) runs_.push_back(entries_.size());
  entries_.push_back({time, record.body.data() - kHeaderSize, record.chunk});
  highest_ = std::max(highest_, time);
  return {};
}

Result<void> TimeOrder::finish_round() {
  const std::uint64_t limit = std::exchange(round_limit_, highest_);
  // Few new ones among many: they can wait, and to sort all for them each time would take long.
  if (entries_.size() - sorted_ < entries_.size() / 8) return {};
  sort();
  const auto behind =
      std::upper_bound(entries_.begin(), entries_.end(), limit,
                       [](std::uint64_t time, const Entry& entry) { return time < entry.time; });
  return leave(static_cast<std::size_t>(behind - entries_.begin()));
}

Result<void> TimeOrder::finish() {
  sort();
  return leave(entries_.size());
}

// Merges runs pairwise: each processor's records are one.
void TimeOrder::sort() {
  while (runs_.size() > 1) {
    merged_.resize(entries_.size());
    std::vector<std::size_t> runs;
    for (std::size_t run = 0; run < runs_.size(); run += 2) {
      const auto place = [&](std::size_t n) {
        const std::size_t at = n < runs_.size() ? runs_[n] : entries_.size();
        return entries_.begin() + static_cast<std::ptrdiff_t>(at);
      };
      std::merge(place(run), place(run + 1), place(run + 1), place(run + 2),
                 merged_.begin() + (place(run) - entries_.begin()));
      runs.push_back(runs_[run]);
    }
    std::swap(entries_, merged_);
    runs_ = std::move(runs);
  }
}

Result<void> TimeOrder::leave(std::size_t count) {
  Result<void> result;
  for (std::size_t i = 0; i < count; ++i) {
    const Entry& entry = entries_[i];
    if (result) result = deliver_(record_at(entry.at, entry.chunk));
    chunks_.release(entry.chunk);
  }
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(count));
  runs_.assign(entries_.empty() ? 0 : 1, 0);
  sorted_ = entries_.size();
  return result;
}

}  // namespace ringside::importers::perf_data
