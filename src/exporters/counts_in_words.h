#pragma once

#include <string>

#include "profile/profile.h"
#include "views/overhead.h"

// How the counts of a recording are written in the head of a report and of a picture. The words
// are those of docs/counts.md: "sampled" is ticks, "samples" is samples.
namespace ringside::exporters {

// All vCPUs: "103 ticks sampled", "103 ticks sampled (98 samples)" where a sample stands for more
// than one tick, "40 of 103 ticks sampled" where the profile's filter leaves some out.
[[nodiscard]] std::string sampled_in_words(const profile::Profile& profile);
// The same of one section, and what else there is: ", 30 idle (22.56% idle), 4 skipped, 2 failed".
[[nodiscard]] std::string counts_in_words(const profile::Profile& profile,
                                          const views::OverheadSection& section);

}  // namespace ringside::exporters
