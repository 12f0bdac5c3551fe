#pragma once

#include <filesystem>

namespace ringside {

// ringside's folder for what can be made again: $XDG_CACHE_HOME/ringside, or in ~/.cache; empty
// where neither is set.
[[nodiscard]] std::filesystem::path user_cache_folder();

}  // namespace ringside
