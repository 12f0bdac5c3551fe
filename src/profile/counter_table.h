#pragma once

#include <cstdint>

#include "base/dense_table.h"
#include "profile/group_table.h"
#include "recording/records.h"

namespace ringside::profile {

// The code that was counted, and by whom it ran.
struct CounterKey {
  std::uint32_t image = 0;  // 0: in none
  std::uint32_t thread = 0;
  std::uint64_t address = 0;  // as linked in the image, else guest physical
  VcpuId vcpu = recording::kNoVcpu;
  bool operator==(const CounterKey&) const = default;
};

// The key of a row of counters.
[[nodiscard]] CounterKey key_of(const recording::CounterSet& set,
                                const recording::CounterBatch& batch, std::size_t row);

struct CounterSum {
  CounterKey key;
  std::uint64_t weight = 0;
  std::uint64_t left_out = 0;  // of other times than the filter's
  std::uint32_t group = kNoGroup;
  bool has_others = false;  // values that were not chosen, for a DetailedProfile
};

struct CounterHash {
  std::uint64_t operator()(const CounterKey& key) const {
    return mixed(key.address ^ mixed((std::uint64_t{key.image} << 32 | key.thread) ^
                                     std::uint64_t{key.vcpu.value} << 48));
  }
};

using CounterTable = DenseTable<CounterKey, CounterSum, CounterHash>;

}  // namespace ringside::profile
