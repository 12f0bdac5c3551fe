#pragma once

#include <cstdint>
#include <set>

#include "importers/format.h"
#include "importers/redox/ring_format.h"

namespace ringside::importers::redox {

// Puts samples into a recording, in order of time.
class SampleWriter {
 public:
  // `first` is the counter of the first of all samples.
  SampleWriter(recording::Writer& writer, const ImportOptions& options, std::uint64_t first)
      : writer_(writer), options_(options), first_(first) {}

  [[nodiscard]] Result<void> add(const RingSample& sample, VcpuId vcpu);
  [[nodiscard]] std::uint64_t samples() const { return samples_; }

 private:
  [[nodiscard]] std::uint64_t time_of(const RingSample& sample) const;
  [[nodiscard]] Result<void> take_context(std::uint32_t context, recording::SampleInfo& info);

  recording::Writer& writer_;
  const ImportOptions& options_;
  std::uint64_t first_;
  std::uint64_t samples_ = 0;
  std::set<std::uint32_t> named_;  // contexts whose names are recorded
  Stack kernel_;                   // reused
  Stack user_;
};

// Ticks of a counter in nanoseconds.
[[nodiscard]] std::uint64_t nanoseconds_of(std::uint64_t ticks, double ticks_per_second);

}  // namespace ringside::importers::redox
