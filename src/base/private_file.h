#pragma once

#include <filesystem>

#include "base/fd.h"
#include "base/result.h"

namespace ringside {

// A new file for writing that only its owner can read: what guests do is nobody else's business. An
// older file of that name is kept as NAME.old. A device or a pipe is opened as it is; a symbolic
// link, which may lead to a file that somebody else has chosen, is refused (kUsage).
[[nodiscard]] Result<UniqueFd> create_private_file(const std::filesystem::path& path);

// The error of create_private_file() for a symbolic link, with nothing opened or moved.
[[nodiscard]] Result<void> refuse_symbolic_link(const std::filesystem::path& path);

}  // namespace ringside
