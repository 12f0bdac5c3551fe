#pragma once

#include <cstdint>

#include "base/result.h"
#include "exporters/perf/script_options.h"
#include "exporters/sink.h"
#include "profile/detailed_profile.h"

namespace ringside::exporters {

// Every sample as `perf script` prints it, in order of time: a line of its head, a line for each
// frame, leaf first, and an empty line. Times of a perf.data are those that it has; times of all
// else count from the start of the recording. Returns the number of samples that were written.
// Errors: the reader's and the sink's.
[[nodiscard]] Result<std::uint64_t> write_script(profile::DetailedProfile& profile,
                                                 const ScriptOptions& options, Sink& sink);

}  // namespace ringside::exporters
