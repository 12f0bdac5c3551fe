#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "importers/format.h"

namespace ringside::app {

// Formats of inputs besides those of importers::formats().
inline constexpr const char* kAutoFormat = "auto";            // as the contents show
inline constexpr const char* kRecordingFormat = "recording";  // ringside's own
inline constexpr const char* kPluginFormat = "tcg";           // the TCG plugin's file
inline constexpr const char* kFoldedFormat = "folded";

// A name and what it is of, for all but kAutoFormat, in the order of --help.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> input_formats();

// The format of inputs, all of one, as their contents show. `kernel_code` is asked only where an
// input has no mark: such data is recognized by its addresses, in the code of a kernel that is
// given. Errors: kUsage where several formats fit, and it is to be chosen; kFormat where none does.
[[nodiscard]] Result<std::string> format_of_inputs(
    std::span<const importers::Input> inputs,
    const std::function<Result<std::vector<importers::CodeRange>>()>& kernel_code);

}  // namespace ringside::app
