#pragma once

#include <vector>

#include "importers/pprof/messages.h"
#include "recording/records.h"

namespace ringside::importers::pprof {

// The numbers of the sample types in the order in which a recording has them as values: first that
// which pprof shows, which the profile names or is the last, then the others. None where there are
// no types; at most recording::kMostColumns.
[[nodiscard]] std::vector<std::size_t> columns_of(const Messages& messages);

// A source with those values, called after what was sampled; its clock is 1.
[[nodiscard]] recording::Source source_of(const Messages& messages,
                                          const std::vector<std::size_t>& columns);

[[nodiscard]] recording::Header header_of(const Messages& messages);

}  // namespace ringside::importers::pprof
