#pragma once

#include <string>
#include <vector>

#include "launch/child_process.h"
#include "launch/launch_info.h"
#include "launch/launch_request.h"

namespace ringside::launch {

// The next start after a QEMU that was given the plugin has ended before it installed it.
enum class NextStart {
  kNone,           // it did not, or it ended for another reason
  kByNewAnswer,    // it refuses that plugin now: choose_plugin() chooses otherwise
  kWithoutPlugin,  // it cannot be asked (LaunchRequest::plugin_failed)
};

// Waits until the plugin is installed, the child has ended, or a second has passed. A QEMU that
// has ended is asked once more which plugin it loads.
[[nodiscard]] NextStart after_refusal(const LaunchRequest& request, const LaunchInfo& info,
                                      ChildProcess& child);

}  // namespace ringside::launch
