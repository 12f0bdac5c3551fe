#pragma once

#include "exporters/format.h"

namespace ringside::exporters {

// The text of `perf script --ns -F +pid`, a block for
// each sample, for what reads that: stackcollapse-perf.pl, inferno, the Firefox profiler. With a
// style of Redox' tool (docs/formats.md) each frame is "ADDRESS [NAME] (kernel)".
[[nodiscard]] Result<void> write_perf_script(profile::DetailedProfile& profile,
                                             const ExportOptions& options, Sink& sink);

}  // namespace ringside::exporters
