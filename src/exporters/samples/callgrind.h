#pragma once

#include "exporters/format.h"

namespace ringside::exporters {

// The format of callgrind_annotate and KCachegrind (valgrind.org/docs/manual/cl-format.html): costs
// by function and source line, each function's own and those of its calls, all values of all
// sources. A call's count is its samples: how often it ran is not known. Inlined functions are
// called by those that they are inlined into.
//
// The outermost functions are called by their process, so that each has a caller. In a stack that
// has a function several times only its outermost call counts. The cost of all calls of a function
// is then that of the samples that it is in, as the readers add it up.
[[nodiscard]] Result<void> write_callgrind(profile::DetailedProfile& profile,
                                           const ExportOptions& options, Sink& sink);

}  // namespace ringside::exporters
