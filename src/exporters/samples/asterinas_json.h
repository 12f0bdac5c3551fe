#pragma once

#include "exporters/format.h"

namespace ringside::exporters {

// The JSON of Asterinas' profiler (asterinas, osdk/src/commands/profile.rs): an array of captures,
// each with the stacks of vCPUs by number, leaf first, of the first source. Names are cleaned up as
// there (symbols/asterinas_name.h), without inlined functions where --no-inline says so; an unknown
// frame is "??". A capture is a round: what one stop has shown, or what vCPUs that sample
// themselves have in one interval, of each vCPU once.
[[nodiscard]] Result<void> write_asterinas_json(profile::DetailedProfile& profile,
                                                const ExportOptions& options, Sink& sink);

}  // namespace ringside::exporters
