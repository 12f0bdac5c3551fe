#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "recording/codec/decode.h"
#include "recording/context_table.h"
#include "recording/records.h"

namespace ringside::recording {

class Replay;

// Samples of a recording of version 1, in which each says all that it has.
class OldSamples {
 public:
  explicit OldSamples(const Header& header) : header_(header) {}

  // Hands a sample on as those of version 2: its source, thread, stacks and context come first,
  // where they were not there before.
  void add(protozero::pbf_reader message, Replay& replay);

 private:
  std::uint32_t source_of(WeightUnit unit, Replay& replay);
  std::uint32_t context_of(const OldSample& sample, Replay& replay);

  const Header& header_;
  ContextTable contexts_;
  std::array<std::uint32_t, 1 + static_cast<std::size_t>(kLastWeightUnit)> sources_{};
  OldSample sample_;   // reused
  SampleBatch batch_;  // reused
};

}  // namespace ringside::recording
