#pragma once

#include <filesystem>
#include <optional>

#include "base/byte_reader.h"

namespace ringside::symbols {

// Asks the servers of $DEBUGINFOD_URLS for the debug information of a build id, through elfutils'
// client library, which is loaded only now and keeps what it gets in its own cache. Nothing where
// the variable is not set, the library is not installed, or no server has it.
[[nodiscard]] std::optional<std::filesystem::path> fetch_debug_info(Bytes build_id);

}  // namespace ringside::symbols
