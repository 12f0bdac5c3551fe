#include "exporters/counts_in_words.h"

#include "exporters/units.h"
#include "views/summary.h"

namespace ringside::exporters {
namespace {

using wire::Disposition;

// A count or a weight as shown, and over the whole recording.
struct Count {
  profile::Weight shown = 0;
  profile::Weight all = 0;
};

std::string format_part(const Count& count) {
  if (count.shown == count.all) return format_weight(count.all);
  return fmt::format("{} of {}", format_weight(count.shown), format_weight(count.all));
}

std::string sampled(const Count& weight, const Count& samples, recording::WeightUnit unit) {
  std::string text = format_part(weight);
  if (unit != recording::WeightUnit::kSamples)
    text += fmt::format(" {}", unit_of(weight.all, unit));
  text += unit == recording::WeightUnit::kSamples ? " samples" : " sampled";
  if (samples.all != weight.all || samples.shown != weight.shown)
    text += fmt::format(" ({} samples)", format_part(samples));
  return text;
}

profile::Weight total(const profile::Profile& profile, Disposition disposition) {
  return static_cast<profile::Weight>(profile.totals.weight[static_cast<std::size_t>(disposition)]);
}

profile::Weight total_samples(const profile::Profile& profile) {
  return static_cast<profile::Weight>(
      profile.totals.count[static_cast<std::size_t>(Disposition::kSampled)]);
}

}  // namespace

std::string sampled_in_words(const profile::Profile& profile) {
  Count weight{0, total(profile, Disposition::kSampled)};
  Count samples{0, total_samples(profile)};
  for (const profile::SampleGroup& group : profile.samples) {
    if (!profile.is_sampled(group)) continue;
    weight.shown += group.weight;
    samples.shown += group.samples;
  }
  return sampled(weight, samples, profile.unit);
}

std::string idle_in_words(const profile::Profile& profile, profile::Weight idle,
                          profile::Weight seen) {
  const views::Summary summary = views::make_summary(profile);
  const profile::Weight all = summary.sampled + summary.idle + summary.skipped + summary.failed;
  const std::uint64_t lost = summary.lost.value_or(0);
  if (seen != all && lost != 0) return {};
  return fmt::format("{}% idle", format_percent(idle, seen + static_cast<profile::Weight>(lost)));
}

std::string counts_in_words(const profile::Profile& profile,
                            const views::OverheadSection& section) {
  // The profile has no totals of one vCPU.
  const auto count = [&](profile::Weight shown, Disposition disposition) {
    return Count{shown, section.vcpu ? shown : total(profile, disposition)};
  };
  std::string text = sampled(
      count(section.sampled, Disposition::kSampled),
      {static_cast<profile::Weight>(section.samples),
       section.vcpu ? static_cast<profile::Weight>(section.samples) : total_samples(profile)},
      profile.unit);
  if (const Count idle = count(section.idle, Disposition::kIdle); idle.all != 0) {
    const std::string share = idle_in_words(
        profile, section.idle, section.sampled + section.idle + section.skipped + section.failed);
    text += fmt::format(", {} idle", format_part(idle));
    if (!share.empty()) text += fmt::format(" ({})", share);
  }
  if (const Count skipped = count(section.skipped, Disposition::kSkipped); skipped.all != 0)
    text += fmt::format(", {} skipped", format_part(skipped));
  if (const Count failed = count(section.failed, Disposition::kFailed); failed.all != 0)
    text += fmt::format(", {} failed", format_part(failed));
  return text;
}

}  // namespace ringside::exporters
