#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace ringside::app {

// Names of a kernel's contexts by their ids, from a file of lines "id name". Errors: kFormat with
// the line, and those of the file.
[[nodiscard]] Result<std::map<std::uint32_t, std::string>> read_context_names(
    const std::string& path);

}  // namespace ringside::app
