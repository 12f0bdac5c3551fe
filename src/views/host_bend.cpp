#include "views/host_bend.h"

#include <algorithm>
#include <string_view>

#include "recording/counters.h"
#include "views/summary.h"

namespace ringside::views {
namespace {

// By a stop: a vCPU that the host does not run is nowhere in particular, and what it stops at when
// it runs again is an interrupt's entry.
constexpr double kMostNotRunByStops = 0.05;
// The plugin loses ticks by the time that passes, wherever the guest is.
constexpr double kMostNotRunByPlugin = 0.5;
// So many vCPUs fewer than processors are busy where a stop has a processor of its own.
constexpr double kFreeProcessors = 0.5;

std::uint64_t counter_of(const profile::Profile& profile, std::string_view name) {
  const auto& counters = profile.recorded->counters;
  const auto found = counters.find(std::string(name));
  return found == counters.end() ? 0 : found->second;
}

}  // namespace

HostBend host_bend(const profile::Profile& profile) {
  if (!profile.recorded || profile.recorded->due == 0) return {};
  const std::string& engine = profile.header.engine;
  const bool stops = engine == "gdb" || engine == "qmp";
  if (!stops && engine != "tcg") return {};
  const Summary summary = make_summary(profile);
  const auto due = static_cast<double>(profile.recorded->due);
  const double wanted = due - std::min(due, static_cast<double>(summary.idle));
  if (wanted <= 0) return {};
  const std::uint64_t lost = counter_of(profile, recording::kLostByHost) +
                             (stops ? 0 : counter_of(profile, recording::kLostToVcpu));
  HostBend bend;
  bend.not_run = static_cast<double>(lost) / wanted;
  if (bend.not_run > (stops ? kMostNotRunByStops : kMostNotRunByPlugin)) {
    bend.reason = HostBend::Reason::kNotRun;
    return bend;
  }
  bend.processors = counter_of(profile, recording::kProcessorsCounter);
  bend.busy_vcpus = profile.header.vcpu_count * wanted / due;
  if (stops && bend.processors != 0 &&
      bend.busy_vcpus + kFreeProcessors > static_cast<double>(bend.processors))
    bend.reason = HostBend::Reason::kCrowded;
  return bend;
}

}  // namespace ringside::views
