#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "base/result.h"

namespace ringside::importers {

// Goes through the elements of several series in order of time, where each series is in order of
// time by itself; elements of one time in order of the series. `time_of(series, index)` gives a
// time, `take(series, index)` a Result<void>.
template <class TimeOf, class Take>
[[nodiscard]] Result<void> in_order_of_time(const std::vector<std::size_t>& sizes, TimeOf&& time_of,
                                            Take&& take) {
  using Next = std::tuple<std::uint64_t, std::size_t, std::size_t>;  // time, series, index
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (std::size_t series = 0; series < sizes.size(); ++series)
    if (sizes[series] != 0) next.emplace(time_of(series, std::size_t{0}), series, std::size_t{0});
  while (!next.empty()) {
    const auto [time, series, index] = next.top();
    next.pop();
    RINGSIDE_TRY(take(series, index));
    if (index + 1 < sizes[series]) next.emplace(time_of(series, index + 1), series, index + 1);
  }
  return {};
}

}  // namespace ringside::importers
