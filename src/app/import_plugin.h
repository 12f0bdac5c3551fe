#pragma once

#include "app/import_session.h"
#include "base/result.h"

namespace ringside::app {

// Makes the recording of a file that the TCG plugin has written by itself: unwinds what it has
// sampled. Says on standard error what is missing.
[[nodiscard]] Result<void> import_plugin_file(const ImportRequest& request);

}  // namespace ringside::app
