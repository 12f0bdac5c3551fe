#include "exporters/parts/value_columns.h"

#include <algorithm>
#include <limits>

#include "profile/sanitize.h"

namespace ringside::exporters {

std::vector<ValueColumn> value_columns(const profile::DetailedProfile& profile) {
  std::vector<ValueColumn> columns;
  const bool has_several = profile.sources().size() > 1;
  for (std::uint32_t i = 0; i < profile.sources().size(); ++i) {
    const profile::ChosenSource& chosen = profile.sources()[i];
    const std::string of_source = has_several ? profile::sanitize(chosen.source.name) + "_" : "";
    for (std::size_t value = 0; value < chosen.values.size(); ++value) {
      const recording::ValueType& type = chosen.source.values[chosen.values[value]];
      columns.push_back({i, value, of_source + profile::sanitize(type.name), type.unit, 1});
      const bool is_time = chosen.source.clock == recording::kHostClock &&
                           type.unit == recording::WeightUnit::kTicks && chosen.source.period != 0;
      if (is_time)
        columns.push_back({i, value, of_source + "time", recording::WeightUnit::kNanoseconds,
                           chosen.source.period});
    }
  }
  columns.resize(std::min(columns.size(), kMostValueColumns));
  return columns;
}

std::int64_t scaled(std::int64_t value, const ValueColumn& column) {
  std::int64_t product = 0;
  if (column.factor > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) ||
      __builtin_mul_overflow(value, static_cast<std::int64_t>(column.factor), &product))
    return value < 0 ? std::numeric_limits<std::int64_t>::min()
                     : std::numeric_limits<std::int64_t>::max();
  return product;
}

void add_bounded(std::int64_t& sum, std::int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum))
    sum = value < 0 ? std::numeric_limits<std::int64_t>::min()
                    : std::numeric_limits<std::int64_t>::max();
}

GroupSums::GroupSums(const profile::DetailedProfile& profile,
                     const std::vector<ValueColumn>& columns)
    : columns_(columns), samples_(profile.group_count()) {}

void GroupSums::sample(const profile::TimedSample& sample) {
  ++samples_[sample.group];
  const std::size_t known = entries_.size();
  Entry& entry = entries_[entries_.find_or_add({sample.source, sample.group})];
  if (entries_.size() != known) {
    entry.first = sums_.size();
    sums_.resize(sums_.size() + sample.values.size());
  }
  for (std::size_t i = 0; i < sample.values.size(); ++i)
    add_bounded(sums_[entry.first + i], sample.values[i]);
}

std::int64_t GroupSums::sum(std::uint32_t group, std::size_t column) const {
  const Entry* const entry = entries_.find({columns_[column].source, group});
  return entry == nullptr ? 0
                          : scaled(sums_[entry->first + columns_[column].value], columns_[column]);
}

}  // namespace ringside::exporters
