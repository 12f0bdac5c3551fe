#pragma once

#include "app/settings/sampling_settings.h"
#include "base/result.h"

namespace ringside::app {

// Where nothing says how to reach a guest: takes the socket in this folder at which a QEMU listens,
// as the builds of Asterinas (.osdk-gdb-socket) and Emerald (qmp-socket) start it, and reports that
// on standard error. Error kUsage where one listens at each.
[[nodiscard]] Result<void> take_default_socket(SamplingSettings& settings);

}  // namespace ringside::app
