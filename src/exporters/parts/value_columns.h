#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dense_table.h"
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

// Those of all chosen sources, at most kMostValueColumns. Ticks of the host's clock stand for time,
// too: a column "time" of nanoseconds follows them.
inline constexpr std::size_t kMostValueColumns = 256;
[[nodiscard]] std::vector<ValueColumn> value_columns(const profile::DetailedProfile& profile);

// `value` times a column's factor, within what 63 bits hold.
[[nodiscard]] std::int64_t scaled(std::int64_t value, const ValueColumn& column);

// Adds within what 63 bits hold.
void add_bounded(std::int64_t& sum, std::int64_t value);

// The sums of the samples of each group, by column. Takes memory for the sources that a group has
// samples of.
class GroupSums final : public profile::SampleReceiver {
 public:
  GroupSums(const profile::DetailedProfile& profile, const std::vector<ValueColumn>& columns);
  void sample(const profile::TimedSample& sample) override;

  // Samples of all sources.
  [[nodiscard]] std::uint64_t samples(std::uint32_t group) const { return samples_[group]; }
  [[nodiscard]] bool has(std::uint32_t group) const { return samples_[group] != 0; }
  // Scaled.
  [[nodiscard]] std::int64_t sum(std::uint32_t group, std::size_t column) const;

 private:
  struct Key {
    std::uint32_t source;
    std::uint32_t group;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::size_t first = 0;  // in sums_: those of the source's values
  };
  struct Hash {
    std::uint64_t operator()(const Key& key) const {
      return mixed(std::uint64_t{key.source} << 32 | key.group);
    }
  };

  const std::vector<ValueColumn>& columns_;
  DenseTable<Key, Entry, Hash> entries_;
  std::vector<std::int64_t> sums_;      // not scaled
  std::vector<std::uint64_t> samples_;  // by group
};

}  // namespace ringside::exporters
