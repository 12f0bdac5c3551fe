#include "views/summary.h"

#include <algorithm>
#include <set>

#include "recording/counters.h"

namespace ringside::views {

namespace {

std::optional<std::uint64_t> count_processes(const profile::Profile& profile) {
  if (!profile.knows_processes) return std::nullopt;
  std::set<std::uint32_t> pids;
  for (const profile::Owner& owner : profile.owners)
    if (owner.pid && owner.disposition == wire::Disposition::kSampled) pids.insert(*owner.pid);
  if (pids.empty()) return std::nullopt;  // names alone
  return pids.size();
}

// Losses without a recorded reason, as in older recordings, are a row, too.
std::vector<std::pair<std::string, std::uint64_t>> lost_by_reason(
    const recording::Statistics& statistics) {
  std::vector<std::pair<std::string, std::uint64_t>> reasons;
  std::uint64_t rest = statistics.lost;
  for (const auto& [name, value] : statistics.counters) {
    if (value == 0 || !name.starts_with(recording::kLostByPrefix)) continue;
    reasons.emplace_back(recording::lost_because(name), std::min(value, rest));
    rest -= std::min(value, rest);
  }
  if (rest != 0) reasons.emplace_back("reason not recorded", rest);
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return reasons;
}

}  // namespace

Summary make_summary(const profile::Profile& profile) {
  const recording::SampleStatistics& totals = profile.totals;
  const auto weight = [&](wire::Disposition disposition) {
    return static_cast<profile::Weight>(totals.weight[static_cast<std::size_t>(disposition)]);
  };
  Summary summary;
  summary.samples = totals.count[static_cast<std::size_t>(wire::Disposition::kSampled)];
  summary.sampled = weight(wire::Disposition::kSampled);
  summary.idle = weight(wire::Disposition::kIdle);
  summary.skipped = weight(wire::Disposition::kSkipped);
  summary.failed = weight(wire::Disposition::kFailed);

  summary.stops = totals.pause.count();
  summary.pause_total_ns = totals.pause.sum();
  summary.pause_average_ns = summary.stops == 0 ? 0 : summary.pause_total_ns / summary.stops;
  summary.pause_p99_ns = totals.pause.quantile(0.99);
  summary.duration_ns = totals.last_ns - totals.first_ns;
  summary.symbol_ns = profile.symbol_ns;
  summary.stood_still_ns = summary.pause_total_ns;
  if (profile.recorded) {
    const auto& counters = profile.recorded->counters;
    const auto reads = counters.find(recording::kMemoryReadPausesCounter);
    if (reads != counters.end()) summary.stood_still_ns += reads->second;
    // Stops whose samples were left out, too. Older recordings do not have it.
    const auto all = counters.find(recording::kStoodStillCounter);
    if (all != counters.end())
      summary.stood_still_ns = std::max(summary.stood_still_ns, all->second);
    summary.due = profile.recorded->due;
    summary.lost = profile.recorded->lost;
    summary.late = profile.recorded->late;
    summary.lost_by_reason = lost_by_reason(*profile.recorded);
    if (profile.recorded->duration_ns != 0) summary.duration_ns = profile.recorded->duration_ns;
    summary.symbol_ns += profile.recorded->symbol_ns;
  }
  if (summary.duration_ns != 0)
    summary.paused_share = std::min(1.0, static_cast<double>(summary.stood_still_ns) /
                                             static_cast<double>(summary.duration_ns));

  summary.stops_by_reason = totals.stops;
  for (std::size_t reason = 0; reason < kStopReasonCount; ++reason) {
    summary.unwound += totals.stops[reason];
    if (is_complete(static_cast<StopReason>(reason))) summary.complete += totals.stops[reason];
  }
  summary.kernel = totals.kernel;
  summary.user = totals.user;
  summary.both = totals.both;
  summary.firmware = totals.firmware;
  summary.lost_stacks = totals.lost_stacks;
  summary.unique_stacks = profile.unique_stacks;
  summary.processes = count_processes(profile);
  summary.unknown_frames = profile.unknown_frames;
  summary.all_frames = profile.all_frames;
  return summary;
}

}  // namespace ringside::views
