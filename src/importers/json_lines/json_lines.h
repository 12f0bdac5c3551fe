#pragma once

#include "importers/format.h"

namespace ringside::importers {

// The lines of `ringside export --format json-lines` (exporters/json_lines.h): the recording, its
// sources, types of events and images, then samples and events, then statistics; a line each.
//
// Names of functions are those of the lines. A frame without a name is looked up in the file of its
// image only where that file is proven to be the one that ran. Counters, and what such lines do not
// have, are left out. Ticks that are due and in no line count as lost. Without lines of statistics
// it is unknown what is lost, as in a recording that was cut.
[[nodiscard]] Likeness json_lines_likeness(const Input& input, const ImportOptions& options);

// Errors: kFormat where there is no sample and no event; kUnsupported where two sources, or types
// of events, have one name and no ids; the target's.
[[nodiscard]] Result<Imported> import_json_lines(std::span<const Input> inputs,
                                                 const ImportOptions& options, Target& target);

}  // namespace ringside::importers
