#pragma once

#include <cstddef>

#include "importers/perf_data/file_header.h"

namespace ringside::importers::perf_data {

// The event that most samples of the first 64 MB of records have; of several the first one. A
// sample of a group counts for its leader, as the others have no more. `first` is the event where
// no sample is of any.
[[nodiscard]] std::size_t main_event(const FileHeader& header, std::size_t first);

}  // namespace ringside::importers::perf_data
