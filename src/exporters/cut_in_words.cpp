#include "exporters/cut_in_words.h"

#include "exporters/lost_in_words.h"
#include "exporters/units.h"
#include "recording/replay.h"
#include "views/summary.h"

namespace ringside::exporters {

std::vector<std::string> cut_in_words(const profile::Profile& profile) {
  const views::Summary summary = views::make_summary(profile);
  const std::uint64_t deep =
      summary.stops_by_reason[static_cast<std::size_t>(StopReason::kTooDeep)];
  std::vector<std::string> words;
  if (deep != 0)
    words.push_back(
        fmt::format("{} of {} stacks ({}%) are deeper than the limit of frames, which is {} in "
                    "ringside: their outermost callers are cut off",
                    format_count(deep), format_count(summary.unwound),
                    format_percent(deep, summary.unwound), recording::ReplayLimits{}.depth));
  words.insert(words.end(), profile.left_out.begin(), profile.left_out.end());
  return words;
}

std::vector<std::string> all_in_words(const profile::Profile& profile) {
  std::vector<std::string> words = cut_in_words(profile);
  if (std::string lost = lost_in_words(profile); !lost.empty())
    words.insert(words.begin(), std::move(lost));
  return words;
}

}  // namespace ringside::exporters
