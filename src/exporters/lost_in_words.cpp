#include "exporters/lost_in_words.h"

#include <algorithm>
#include <initializer_list>

#include "exporters/units.h"
#include "formats/json_lines.h"
#include "recording/counters.h"
#include "views/host_bend.h"
#include "views/summary.h"

namespace ringside::exporters {
namespace {

constexpr const char* kBent = "shares are bent by the host";
constexpr std::uint64_t kMattersFrom = 10;  // percent

bool matters(const views::Summary& summary) {
  return summary.due && summary.lost && *summary.lost * 100 > *summary.due * kMattersFrom;
}

std::string in_words(const views::Summary& summary) {
  return fmt::format("{} of {} vCPU ticks ({}%) were lost, most of them: {}",
                     format_count(*summary.lost), format_count(*summary.due),
                     format_percent(*summary.lost, *summary.due),
                     summary.lost_by_reason.front().first);
}

bool is_one_of(const std::string& reason, std::initializer_list<const char*> counters) {
  return std::any_of(counters.begin(), counters.end(), [&](const char* counter) {
    return reason == recording::lost_because(counter);
  });
}

bool is_by_host(const std::string& reason, const profile::Profile& profile) {
  if (reason == recording::lost_because(recording::kLostByHost)) return true;
  return views::samples_seldom(profile) &&
         is_one_of(reason,
                   {recording::kLostToVcpu, recording::kLostLate, recording::kLostToEngine});
}

std::string advice(const std::string& reason, const profile::Profile& profile) {
  const std::string& engine = profile.header.engine;
  if (reason == recording::lost_because(recording::kLostToSuspension))
    return "do not suspend it (Ctrl-Z) while it records";
  if (reason == recording::lost_because(formats::json_lines::kLostToDamage))
    return "export the recording again";
  if (is_one_of(reason, {recording::kLostToGuestRing, recording::kLostByOverwriting}))
    return "give the guest's rings more words, or let the guest sample less often";
  if (views::ran_no_code(profile)) return "try --engine gdb, which shows what the vCPUs do";
  if (!is_by_host(reason, profile))
    return engine == "ring" ? "let the guest sample less often"
                            : "sample less often (-F, --interval)";
  return fmt::format(
      "the host is busy: give it less to do, the guest fewer vCPUs or QEMU's group of tasks a "
      "higher priority (docs/busy-hosts.md){}",
      engine == "tcg" ? ", or try --engine gdb" : "");
}

}  // namespace

std::string lost_in_words(const profile::Profile& profile) {
  const views::Summary summary = views::make_summary(profile);
  if (!matters(summary)) return {};
  return fmt::format("{}; {}", in_words(summary),
                     advice(summary.lost_by_reason.front().first, profile));
}

std::string any_loss_in_words(const profile::Profile& profile) {
  const views::Summary summary = views::make_summary(profile);
  return summary.due && summary.lost && *summary.lost != 0 ? in_words(summary) : "";
}

std::string bent_in_words(const profile::Profile& profile) {
  const views::HostBend bend = views::host_bend(profile);
  switch (bend.reason) {
    case views::HostBend::Reason::kNone:
      break;
    case views::HostBend::Reason::kNotRun:
      return fmt::format(
          "{}: it did not run the vCPU, or the thread that samples it, at {:.0f}% of the ticks at "
          "which the guest was not idle (docs/busy-hosts.md)",
          kBent, 100 * bend.not_run);
    case views::HostBend::Reason::kCrowded:
      return fmt::format(
          "{}: {:.1f} busy vCPUs left no processor of {} to the threads that stop them: give the "
          "guest fewer vCPUs, or take the tcg engine (docs/busy-hosts.md)",
          kBent, bend.busy_vcpus, bend.processors);
  }
  return {};
}

std::string bent_in_short(const profile::Profile& profile) {
  const bool is_bent = views::host_bend(profile).reason != views::HostBend::Reason::kNone;
  return is_bent ? kBent : "";
}

std::string waits_in_words(const profile::Profile& profile) {
  if (!profile.recorded) return {};
  const auto& counters = profile.recorded->counters;
  const auto waited = counters.find(recording::kWaitedStatesCounter);
  if (waited == counters.end() || waited->second == 0) return {};
  return fmt::format(
      "{} of the stacks {} of a vCPU that waited for a processor of the host when it was stopped",
      format_count(waited->second), waited->second == 1 ? "is" : "are");
}

std::string lost_in_short(const profile::Profile& profile) {
  const views::Summary summary = views::make_summary(profile);
  if (!matters(summary)) return {};
  return fmt::format("{}% lost ({})", format_percent(*summary.lost, *summary.due),
                     summary.lost_by_reason.front().first);
}

}  // namespace ringside::exporters
