#pragma once

#include <string>

#include "recording/records.h"
#include "recording/sources.h"

namespace ringside::exporters {

// The name of a source's event as perf prints it: where perf wrote the input, without the number
// that tells apart events of one name.
[[nodiscard]] std::string event_of(const recording::Header& header,
                                   const recording::Source& source);

// The file of an image as perf prints it: "[kernel.kallsyms]", the file's path, or a name where
// there is none or it is that of a copy.
[[nodiscard]] std::string dso_name(const recording::ImageInfo& image);

}  // namespace ringside::exporters
