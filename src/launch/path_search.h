#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace ringside::launch {

// The first file named `program` in the folders of `path`, which is a PATH, that access(2) grants
// `mode` for: X_OK, or F_OK for any that is there. Folders that may not be read have none.
std::optional<std::filesystem::path> find_in_path(const std::string& path,
                                                  const std::string& program, int mode);

}  // namespace ringside::launch
