#pragma once

#include "exporters/format.h"

namespace ringside::exporters {

// The Firefox Profiler's processed profile, version 66, compressed with gzip: a thread for each
// vCPU, for each thread of the guest, for each value of other sources, and one of events.
// docs/formats.md says what stands where.
// https://github.com/firefox-devtools/profiler: src/types/profile.ts,
// docs-developer/CHANGELOG-formats.md.
[[nodiscard]] Result<void> write_firefox(profile::DetailedProfile& profile,
                                         const ExportOptions& options, Sink& sink);

}  // namespace ringside::exporters
