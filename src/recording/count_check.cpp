#include "recording/count_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "recording/counters.h"

namespace ringside::recording {
namespace {

// At most the largest number: a sum that is too large is no small one.
std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
}

}  // namespace

void CountCheck::add(const Source& source) { sums_[source.id].is_of_ticks = is_of_ticks(source); }

void CountCheck::add(const SampleBatch& batch) {
  Sum& sums = sums_[batch.source];
  sums.samples += batch.size();
  if (!sums.is_of_ticks || batch.values.empty()) return;
  for (const std::int64_t weight : batch.values.front())
    sums.ticks = sum(sums.ticks, static_cast<std::uint64_t>(std::max<std::int64_t>(weight, 0)));
}

std::string CountCheck::contradiction() const {
  for (const auto& [id, figures] : statistics_) {
    std::uint64_t reasons = 0;
    for (const auto& [name, value] : figures.counters)
      if (name.starts_with(kLostByPrefix)) reasons = sum(reasons, value);
    const auto found = sums_.find(id);
    const Sum sums = found == sums_.end() ? Sum() : found->second;
    if (reasons > figures.lost)
      return fmt::format("of its {} lost ticks, {} have a reason", figures.lost, reasons);
    const std::uint64_t taken = sums.is_of_ticks ? sums.ticks : sums.samples;
    // Older importers have counted samples of ticks.
    const bool counts_samples = sum(sums.samples, figures.lost) == figures.due;
    if (!counts_samples && sum(taken, figures.lost) > figures.due)
      return fmt::format("of the {} {} that were due, {} are there and {} are lost", figures.due,
                         sums.is_of_ticks ? "ticks" : "samples", taken, figures.lost);
  }
  return {};
}

}  // namespace ringside::recording
