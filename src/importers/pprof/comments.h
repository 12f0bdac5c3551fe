#pragma once

#include <string>
#include <vector>

#include "importers/pprof/messages.h"
#include "recording/records.h"

namespace ringside::importers::pprof {

// Takes the figures from the comments that ringside's own export writes. Returns the others, of
// which there are few.
[[nodiscard]] std::vector<std::string> take_comments(const Messages& messages,
                                                     recording::Statistics& statistics);

}  // namespace ringside::importers::pprof
