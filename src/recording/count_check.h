#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "recording/records.h"

namespace ringside::recording {

// Whether the figures of a recording can be true: none of them is less than what it sums up, as
// counters.h and Statistics have it. Samples that are missing break none of these sums.
class CountCheck {
 public:
  void add(const Source& source);
  void add(const SampleBatch& batch);
  void add(const Statistics& statistics) { statistics_[statistics.source] = statistics; }

  // The first figure that cannot be true, in words; empty if there is none.
  [[nodiscard]] std::string contradiction() const;

 private:
  struct Sum {
    bool is_of_ticks = false;
    std::uint64_t samples = 0;
    std::uint64_t ticks = 0;
  };
  std::map<std::uint32_t, Sum> sums_;               // by source
  std::map<std::uint32_t, Statistics> statistics_;  // by source; the last one counts
};

}  // namespace ringside::recording
