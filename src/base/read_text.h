#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace ringside {

// The text of a file that may go while it is read, such as /proc/PID/maps of a process that ends:
// its first `most` bytes, up to the first error; empty where it cannot be opened.
[[nodiscard]] std::string read_text(const std::filesystem::path& path,
                                    std::size_t most = std::size_t{256} << 20);

}  // namespace ringside
