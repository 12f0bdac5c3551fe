#pragma once

#include <cstdint>

#include "base/result.h"
#include "recording/writer.h"

namespace ringside::importers {

// recording::Source::clock of data without times: samples have numbers in the order of the input.
inline constexpr std::uint32_t kEventNumbers = 1;

// Adds that clock, which must be the first one.
[[nodiscard]] inline Result<void> add_event_numbers(recording::Writer& writer) {
  const recording::Clock clock{kEventNumbers, recording::ClockKind::kEventNumber, "event number",
                               0};
  RINGSIDE_TRY(writer.add_clock(clock));
  return {};
}

}  // namespace ringside::importers
