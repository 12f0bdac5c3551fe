#pragma once

#include <filesystem>

#include "base/result.h"

namespace ringside::app {

// The folder of speedscope's own page, with its index.html: `given` where that is not empty, else
// RINGSIDE_SPEEDSCOPE, else where npm installs it (in the working folder, or globally), else
// /usr/share/ringside/speedscope, else the cache of script/fetch-viewers. kNotFound: how to get it.
[[nodiscard]] Result<std::filesystem::path> find_speedscope_page(
    const std::filesystem::path& given);

}  // namespace ringside::app
