#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ringside::launch {

// The folders of a PATH, in its order; an empty one is the working folder.
[[nodiscard]] std::vector<std::string> split_path(const std::string& path);

// The first file named `program` in the folders of `path`, which is a PATH, that access(2) grants
// `mode` for: X_OK, or F_OK for any that is there. Folders that may not be read have none.
[[nodiscard]] std::optional<std::filesystem::path> find_in_path(const std::string& path,
                                                                const std::string& program,
                                                                int mode);

}  // namespace ringside::launch
