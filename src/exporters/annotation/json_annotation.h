#pragma once

#include "annotation/annotated_function.h"
#include "exporters/sink.h"

namespace ringside::exporters {

// `annotate --format json`: everything, one object for each function (docs/annotate.md). Addresses
// are hexadecimal strings, weights are in the profile's unit.
[[nodiscard]] Result<void> write_json_annotation(const annotation::Annotation& annotation,
                                                 Sink& sink);

}  // namespace ringside::exporters
