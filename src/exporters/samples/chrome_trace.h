#pragma once

#include "exporters/format.h"

namespace ringside::exporters {

// Chrome's trace events as JSON, for the Performance panel of Chrome's developer tools, speedscope
// and Perfetto: a CPU profile of each thread ("Profile" and "ProfileChunk" events) of the first
// source, and the events of all sources. Threads that are not known are those of process -1, one
// for each vCPU. Times are microseconds since the recording's start.
[[nodiscard]] Result<void> write_chrome_trace(profile::DetailedProfile& profile,
                                              const ExportOptions& options, Sink& sink);

}  // namespace ringside::exporters
