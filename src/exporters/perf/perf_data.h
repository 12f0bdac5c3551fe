#pragma once

#include "base/result.h"
#include "exporters/format.h"
#include "exporters/sink.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters {

// perf.data, for `perf report`, `perf script` and hotspot: in the form of a file where the sink can
// be rewritten, else in that of a pipe. The format: tools/perf/Documentation/perf.data-file-format
// .txt of Linux 6.1. Names are written to ExportOptions::beside, if there is one.
[[nodiscard]] Result<void> write_perf_data(profile::DetailedProfile& profile,
                                           const ExportOptions& options, Sink& sink);

}  // namespace ringside::exporters
