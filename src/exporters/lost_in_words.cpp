#include "exporters/lost_in_words.h"

#include "exporters/units.h"
#include "views/summary.h"

namespace ringside::exporters {
namespace {

constexpr std::uint64_t kMattersFrom = 10;  // percent

bool matters(const views::Summary& summary) {
  return summary.due && summary.lost && *summary.lost * 100 > *summary.due * kMattersFrom;
}

std::string advice(const std::string& reason, const std::string& engine) {
  if (reason == recording::lost_because(recording::kLostToSuspension))
    return "do not suspend it (Ctrl-Z) while it records";
  if (reason == recording::lost_because(recording::kLostToGuestRing) ||
      reason == recording::lost_because(recording::kLostByOverwriting))
    return "give the guest's rings more words, or let the guest sample less often";
  if (reason != recording::lost_because(recording::kLostByHost))
    return engine == "ring" ? "let the guest sample less often"
                            : "sample less often (-F, --interval)";
  return fmt::format(
      "the host is busy: give it less to do or the guest fewer vCPUs, lower the rate{}",
      engine == "tcg" ? ", or try --engine gdb" : "");
}

}  // namespace

std::string lost_in_words(const profile::Profile& profile) {
  const views::Summary summary = views::make_summary(profile);
  if (!matters(summary)) return {};
  const std::string& most = summary.lost_by_reason.front().first;
  return fmt::format("{} of {} vCPU ticks ({}%) were lost, most of them: {}; {}",
                     format_count(*summary.lost), format_count(*summary.due),
                     format_percent(*summary.lost, *summary.due), most,
                     advice(most, profile.header.engine));
}

std::string lost_in_short(const profile::Profile& profile) {
  const views::Summary summary = views::make_summary(profile);
  if (!matters(summary)) return {};
  return fmt::format("{}% lost ({})", format_percent(*summary.lost, *summary.due),
                     summary.lost_by_reason.front().first);
}

}  // namespace ringside::exporters
