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
// "21.13% idle": of all that was due, lost ticks too, for a lost tick was not an idle one. `idle`
// and `seen`, which has it, are weights. Empty where they are a part of the recording, by a filter
// or by vCPU, and ticks were lost: which part those belong to is not recorded.
[[nodiscard]] std::string idle_in_words(const profile::Profile& profile, profile::Weight idle,
                                        profile::Weight seen);
// The same as sampled_in_words() of one section, and what else there is:
// ", 30 idle (21.13% idle), 4 skipped, 2 failed".
[[nodiscard]] std::string counts_in_words(const profile::Profile& profile,
                                          const views::OverheadSection& section);

}  // namespace ringside::exporters
