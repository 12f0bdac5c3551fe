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

// A plugin or vCPU that is late at a high rate may be so without a busy host.
std::uint64_t lost_by_host(const profile::Profile& profile, bool stops) {
  const std::uint64_t not_run = counter_of(profile, recording::kLostByHost);
  const std::uint64_t not_in_time = counter_of(profile, recording::kLostToVcpu);
  const bool is_rate = !samples_seldom(profile) && not_run < not_in_time;
  return stops || is_rate || ran_no_code(profile) ? not_run : not_run + not_in_time;
}

}  // namespace

bool samples_seldom(const profile::Profile& profile) {
  constexpr std::uint64_t kSeldomNs = 2'000'000;
  return profile.header.interval_ns >= kSeldomNs;
}

bool ran_no_code(const profile::Profile& profile) {
  const Summary summary = make_summary(profile);
  return profile.header.engine == "tcg" && profile.recorded && summary.sampled == 0 &&
         summary.idle == 0 && counter_of(profile, recording::kLostToVcpu) != 0 &&
         counter_of(profile, recording::kLostToVcpu) == profile.recorded->due;
}

HostBend host_bend(const profile::Profile& profile) {
  if (!profile.recorded || profile.recorded->due == 0) return {};
  const std::string& engine = profile.header.engine;
  const bool stops = engine == "gdb" || engine == "qmp";
  if (!stops && engine != "tcg") return {};
  const Summary summary = make_summary(profile);
  const auto due = static_cast<double>(profile.recorded->due);
  const auto idle = static_cast<double>(summary.idle);
  if (due <= idle) return {};
  HostBend bend;
  bend.not_run = static_cast<double>(lost_by_host(profile, stops)) / (due - idle);
  if (bend.not_run > (stops ? kMostNotRunByStops : kMostNotRunByPlugin)) {
    bend.reason = HostBend::Reason::kNotRun;
    return bend;
  }
  bend.processors = counter_of(profile, recording::kProcessorsCounter);
  const double seen = due - std::min(due, static_cast<double>(profile.recorded->lost));
  if (seen > idle) bend.busy_vcpus = profile.header.vcpu_count * (seen - idle) / seen;
  if (stops && bend.processors != 0 &&
      bend.busy_vcpus + kFreeProcessors > static_cast<double>(bend.processors))
    bend.reason = HostBend::Reason::kCrowded;
  return bend;
}

}  // namespace ringside::views
