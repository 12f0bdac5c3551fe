#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "exporters/perf/script_options.h"

namespace ringside::cli {

// The names that read_script_fields() takes, with commas between.
[[nodiscard]] std::string script_field_names();

// The fields of `perf script -F TEXT -F TEXT …`: each text names all fields, or, with + or - before
// each, what to add to the usual ones or to leave out. Error kUsage: an unknown name, both kinds in
// one text, or a field that needs another one.
[[nodiscard]] Result<exporters::ScriptFields> read_script_fields(
    const std::vector<std::string>& texts);

}  // namespace ringside::cli
