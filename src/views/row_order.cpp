#include "views/row_order.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace ringside::views {

// A row as it is sorted: rows themselves are large.
struct RowOrder::Place {
  std::uint64_t weight = 0;
  std::uint32_t depth = 0;         // 0 where `weight` is without callees
  std::uint64_t other_weight = 0;  // self where `weight` is with callees, and the other way round
  std::uint32_t row = 0;
};

RowOrder::RowOrder(const profile::Profile& profile, OverheadOptions::Sort by)
    : profile_(profile), by_(by), ranks_(profile.strings.size()) {
  std::vector<profile::StringId> sorted(profile.strings.size());
  std::iota(sorted.begin(), sorted.end(), profile::StringId{0});
  std::sort(sorted.begin(), sorted.end(), [&](profile::StringId a, profile::StringId b) {
    return profile.strings[a] < profile.strings[b];
  });
  for (std::uint32_t rank = 0; rank < sorted.size(); ++rank) ranks_[sorted[rank]] = rank;
}

void RowOrder::sort(std::vector<OverheadRow>& rows) const {
  std::vector<Place> places;
  places.reserve(rows.size());
  for (const OverheadRow& row : rows)
    places.push_back(place_of(row, static_cast<std::uint32_t>(places.size())));
  std::sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
    if (a.weight != b.weight) return a.weight > b.weight;
    if (a.depth != b.depth) return a.depth < b.depth;
    if (a.other_weight != b.other_weight) return a.other_weight > b.other_weight;
    return goes_before(rows[a.row], rows[b.row]);
  });
  std::vector<OverheadRow> sorted;
  sorted.reserve(rows.size());
  for (const Place& place : places) sorted.push_back(rows[place.row]);
  rows = std::move(sorted);
}

RowOrder::Place RowOrder::place_of(const OverheadRow& row, std::uint32_t number) const {
  const std::uint64_t self = profile::extent_of(row.self);
  const std::uint64_t total = profile::extent_of(row.total);
  return by_ == OverheadOptions::Sort::kSelf ? Place{self, 0, total, number}
                                             : Place{total, row.depth, self, number};
}

std::uint32_t RowOrder::rank_of(const std::optional<profile::FunctionId>& function) const {
  return ranks_[function ? profile_.functions[*function].name : profile::StringId{0}];
}

bool RowOrder::goes_before(const OverheadRow& a, const OverheadRow& b) const {
  const auto names = [&](const OverheadRow& row) {
    return std::tuple(rank_of(row.function), ranks_[row.line], ranks_[row.image], ranks_[row.comm],
                      row.pid, row.tid, row.vcpu, row.span_ns, rank_of(row.parent),
                      ranks_[row.cgroup]);
  };
  return names(a) < names(b);
}

}  // namespace ringside::views
