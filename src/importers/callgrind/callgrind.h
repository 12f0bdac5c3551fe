#pragma once

#include "importers/format.h"

namespace ringside::importers {

// Files of valgrind's callgrind and what else writes their format (valgrind.org/docs/manual/
// cl-format.html, version 1, valgrind 3.19; cachegrind's are like it, without calls): costs of
// functions by source line, and of calls with all that they call, by event.
//
// The events are the values of one source. A file has no stacks: its own costs are exact, by
// function and line, and of calls is known who called whom and what that cost. So stacks are
// estimated, as stack_estimate.h says, and a warning tells so. Each function has its own costs
// exactly, and, as far as functions do not call each other in circles and what the file says of
// calls agrees with what it says of lines, the costs of its calls as well. Threads that the file
// keeps apart stay apart. How often functions were called, jumps and addresses are left out.
//
// Ringside's own export has processes as the outermost callers; they become processes
// again, which have names and no numbers: a caller may stand for many of one name.
[[nodiscard]] Likeness callgrind_likeness(const Input& input, const ImportOptions& options);

// Several inputs are parts of one run, as --separate-threads=yes and dumps have them. Errors:
// kFormat where no line has a cost; the target's.
[[nodiscard]] Result<Imported> import_callgrind(std::span<const Input> inputs,
                                                const ImportOptions& options, Target& target);

}  // namespace ringside::importers
