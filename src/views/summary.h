#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"

namespace ringside::views {

// How the sampling went: the whole recording, filters apart.
// due = sampled + idle + skipped + failed + lost where the writer could say what was due.
struct Summary {
  std::optional<std::uint64_t> due;  // vCPU ticks; these three are absent where the writer died
  std::optional<std::uint64_t> lost;
  std::optional<std::uint64_t> late;
  // Why they are lost, in words, most first; these add up to `lost`.
  std::vector<std::pair<std::string, std::uint64_t>> lost_by_reason;
  std::uint64_t samples = 0;    // each stands for one vCPU tick or more …
  profile::Weight sampled = 0;  // … and all for so many; these four are weights
  profile::Weight idle = 0;
  profile::Weight skipped = 0;
  profile::Weight failed = 0;

  std::uint64_t stops = 0;  // times the guest was stopped
  std::uint64_t pause_average_ns = 0;
  std::uint64_t pause_p99_ns = 0;
  std::uint64_t pause_total_ns = 0;
  std::uint64_t stood_still_ns = 0;  // all of the guest's stops: for samples, and for reads
  std::uint64_t duration_ns = 0;     // as the writer says, else from the first to the last sample
  double paused_share = 0;           // of stood_still_ns in the duration, 0 to 1

  std::uint64_t symbol_ns = 0;  // the writer's plus the profile builder's
  std::uint64_t unwound = 0;    // samples with a walk …
  std::uint64_t complete = 0;   // … of which so many reached an end that is one
  std::array<std::uint64_t, kStopReasonCount> stops_by_reason{};
  // Counts of each part of the stacks, by the end of its own walk: unwound = kernel + user - both +
  // firmware.
  recording::PartStops kernel;
  recording::PartStops user;
  std::uint64_t both = 0;         // samples with both parts
  std::uint64_t firmware = 0;     // … with neither
  std::uint64_t lost_stacks = 0;  // samples whose stack stood in a damaged block
  std::uint64_t unique_stacks = 0;
  std::optional<std::uint64_t> processes;  // with a sample; absent where none is known
  std::uint64_t unknown_frames = 0;
  std::uint64_t all_frames = 0;
};

[[nodiscard]] Summary make_summary(const profile::Profile& profile);

}  // namespace ringside::views
