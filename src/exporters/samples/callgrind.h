#pragma once

#include "exporters/format.h"

namespace ringside::exporters {

// The format of callgrind_annotate and KCachegrind (valgrind.org/docs/manual/cl-format.html): costs
// by function and source line, each function's own and those of its calls, all values of all
// sources. A call's count is its samples: how often it ran is not known. Inlined functions are
// called by those that they are inlined into.
//
// In a stack that has a function several times only its outermost call counts, so that a function's
// own cost and that of its calls are the samples that it is in.
[[nodiscard]] Result<void> write_callgrind(profile::DetailedProfile& profile,
                                           const ExportOptions& options, Sink& sink);

}  // namespace ringside::exporters
