#pragma once

#include "exporters/format.h"

namespace ringside::exporters {

// A file for speedscope (speedscope.app, file-format-schema.json): one profile of all samples for
// each value of each source, summed up by stack, and one for each thread, in order of time. Ticks
// of the host's clock are shown as the time that they stand for.
[[nodiscard]] Result<void> write_speedscope(profile::DetailedProfile& profile,
                                            const ExportOptions& options, Sink& sink);

}  // namespace ringside::exporters
