#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/detailed_profile.h"
#include "recording/sources.h"

namespace ringside::exporters {

// One number of the samples of one source, for formats that hold several.
struct ValueColumn {
  std::uint32_t source = 0;  // in DetailedProfile::sources()
  std::size_t value = 0;     // in TimedSample::values
  std::string name;          // "ticks"; with its source's where there are several: "cpu_ticks"
  recording::WeightUnit unit = recording::WeightUnit::kTicks;
  std::uint64_t factor = 1;  // of the sample's value
};

// Those of all chosen sources. Ticks of the host's clock stand for time, too: a column "time" of
// nanoseconds follows them.
[[nodiscard]] std::vector<ValueColumn> value_columns(const profile::DetailedProfile& profile);

// `value` times a column's factor, within what 63 bits hold.
[[nodiscard]] std::int64_t scaled(std::int64_t value, const ValueColumn& column);

// The sums of the samples of each group, by column.
class GroupSums final : public profile::SampleReceiver {
 public:
  GroupSums(const profile::DetailedProfile& profile, const std::vector<ValueColumn>& columns);
  void sample(const profile::TimedSample& sample) override;

  [[nodiscard]] bool has(std::uint32_t group) const { return has_[group]; }
  // Scaled.
  [[nodiscard]] std::int64_t sum(std::uint32_t group, std::size_t column) const {
    return scaled(sums_[group * columns_.size() + column], columns_[column]);
  }

 private:
  const std::vector<ValueColumn>& columns_;
  std::vector<std::int64_t> sums_;  // by group, then by column; not scaled
  std::vector<bool> has_;           // by group: it has samples
};

}  // namespace ringside::exporters
