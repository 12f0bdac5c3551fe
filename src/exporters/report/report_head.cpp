#include "exporters/report/report_head.h"

#include <fmt/core.h>

#include <cstdint>
#include <string>

#include "base/text.h"
#include "exporters/counts_in_words.h"
#include "views/summary.h"

namespace ringside::exporters {
namespace {

// "999 ", "1000 ", "4K": a count as perf has it, cut to three digits or four.
std::string short_count(std::uint64_t count) {
  char unit = ' ';
  for (const char next : {'K', 'M', 'G'}) {
    if (count <= 1000) break;
    count /= 1000;
    unit = next;
  }
  return fmt::format("{}{}", count, unit);
}

std::string lost_in_head(const profile::Profile& profile) {
  const views::Summary summary = views::make_summary(profile);
  if (!profile.is_of_ticks) return std::to_string(profile.recorded ? profile.recorded->lost : 0);
  return summary.lost ? std::to_string(*summary.lost) : "unknown, for the recording was cut";
}

}  // namespace

Result<void> write_report_head(const profile::Profile& profile,
                               const views::OverheadSection& section, Sink& sink) {
  std::string text;
  // Folded stacks have weights alone.
  if (profile.input.empty())
    text += fmt::format(
        "# Total Lost Samples: {}\n#\n# Samples: {} of event '{}'\n# Event count (approx.): {}\n",
        lost_in_head(profile), short_count(section.samples), printable_line(profile.source),
        section.extent);
  const bool is_all =
      profile.is_whole() && section.idle == 0 && section.skipped == 0 && section.failed == 0;
  if (!profile.input.empty() || !is_all)
    text += fmt::format("# All vCPUs: {}\n", counts_in_words(profile, section));
  return sink.write(text + "#\n");
}

}  // namespace ringside::exporters
