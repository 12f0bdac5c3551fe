#pragma once

#include <string>

#include "exporters/sink.h"
#include "profile/profile.h"

namespace ringside::exporters {

struct ChangePictureOptions {
  std::string before_name;  // of the inputs
  std::string after_name;
  bool reverse = false;  // leaf first
  bool icicle = false;   // roots at the top
};

// A flame graph of what changed, with a tower of each profile: frames are as wide as their share,
// and have the colour of its change. Both profiles get names across builds. An empty profile has
// no tower.
[[nodiscard]] Result<void> write_change_flamegraph(profile::Profile& before,
                                                   profile::Profile& after,
                                                   const ChangePictureOptions& options, Sink& sink);

}  // namespace ringside::exporters
