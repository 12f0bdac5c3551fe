#include "exporters/empty_in_words.h"

#include <algorithm>

#include "exporters/units.h"
#include "views/summary.h"

namespace ringside::exporters {
namespace {

std::uint64_t sampled(const profile::Profile& profile) {
  return profile.totals.count[static_cast<std::size_t>(wire::Disposition::kSampled)];
}

// Sources that were not chosen are in no sum.
bool is_empty(const profile::Profile& profile) {
  if (sampled(profile) == 0) return profile.other_sources.empty();
  return sampled(profile) == profile.filtered_sampled;
}

}  // namespace

std::string empty_in_words(const profile::Profile& profile) {
  if (!is_empty(profile)) return {};
  if (sampled(profile) != 0)
    return fmt::format("the options that choose samples leave out all {}",
                       format_count(sampled(profile)));
  const views::Summary summary = views::make_summary(profile);
  if (summary.due.value_or(1) == 0) return "no vCPU tick was due";
  const std::uint64_t lost = summary.lost.value_or(0);
  const auto idle = static_cast<std::uint64_t>(summary.idle);
  const auto skipped = static_cast<std::uint64_t>(summary.skipped);
  const auto failed = static_cast<std::uint64_t>(summary.failed);
  const std::uint64_t most = std::max({lost, idle, skipped, failed});
  const std::uint64_t all = summary.due.value_or(idle + skipped + failed + lost);
  if (most == 0) return "nothing was recorded";
  const std::string of = fmt::format("{} of {} vCPU ticks", format_count(most), format_count(all));
  if (most == idle)
    return of + " found the vCPU idle; 'ringside profile --halted' shows where idle vCPUs stand";
  if (most == lost)
    return fmt::format("{} were lost, most of them: {}", of, summary.lost_by_reason.front().first);
  if (most == failed) return of + " gave no registers";
  return of + " were not asked for (-k, -u, --cpu)";
}

bool is_all_idle(const profile::Profile& profile) {
  if (!is_empty(profile) || sampled(profile) != 0) return false;
  const views::Summary summary = views::make_summary(profile);
  const auto idle = static_cast<std::uint64_t>(summary.idle);
  // A busy host loses many ticks of an idle guest, too.
  return idle > summary.lost.value_or(0) && summary.skipped == 0 && summary.failed == 0;
}

}  // namespace ringside::exporters
