#pragma once

#include <filesystem>

#include "base/fd.h"
#include "base/result.h"

namespace ringside {

// The path at which a file is open, without symbolic links; empty where the system does not say.
[[nodiscard]] std::filesystem::path path_of(int fd);

// Whether `path` is below `folder`, part by part; neither is looked up. Nothing is below an empty
// one.
[[nodiscard]] bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

// Opens a regular file for reading, if it is below `folder`, a path without symbolic links. Links
// count as what they lead to. The opened file itself is judged, so nothing can be put in its place
// meanwhile, and no pipe or device is opened for that. Errors: kNotFound, kIo where it cannot be
// opened, kFormat where it is no regular file, kMismatch where it is not below `folder`.
[[nodiscard]] Result<UniqueFd> open_below(const std::filesystem::path& folder,
                                          const std::filesystem::path& path);

}  // namespace ringside
