#pragma once

#include "exporters/sink.h"
#include "profile/profile.h"
#include "views/overhead.h"

namespace ringside::exporters {

// The lines above a report's table, perf's first: what was lost, how many samples of which event,
// their weight. Then, where some of the time has no sample or the filter has left samples out, what
// became of all.
[[nodiscard]] Result<void> write_report_head(const profile::Profile& profile,
                                             const views::OverheadSection& section, Sink& sink);

}  // namespace ringside::exporters
