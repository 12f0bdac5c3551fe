#pragma once

#include <string>

#include "profile/profile.h"

namespace ringside::exporters {

// One sentence each of what was lost, where that is more than a tenth of the ticks that were due;
// else empty. Long: how many, why, and what to do about it. Short: for the subtitle of a picture.
[[nodiscard]] std::string lost_in_words(const profile::Profile& profile);
[[nodiscard]] std::string lost_in_short(const profile::Profile& profile);

// The same for any loss, without what to do about it: for formats that have no place for it.
[[nodiscard]] std::string any_loss_in_words(const profile::Profile& profile);

// That the shares are bent by the host, and why (views/host_bend.h); else empty. Short: for the
// subtitle of a picture.
[[nodiscard]] std::string bent_in_words(const profile::Profile& profile);
[[nodiscard]] std::string bent_in_short(const profile::Profile& profile);

// How many stacks are states of vCPUs that the host kept waiting. Empty where none is.
[[nodiscard]] std::string waits_in_words(const profile::Profile& profile);

}  // namespace ringside::exporters
