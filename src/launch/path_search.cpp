#include "launch/path_search.h"

#include <unistd.h>

#include <algorithm>

#include "base/split.h"

namespace ringside::launch {

std::vector<std::string> split_path(const std::string& path) { return split(path, ':'); }

std::optional<std::filesystem::path> find_in_path(const std::string& path,
                                                  const std::string& program, int mode) {
  for (const std::filesystem::path folder : split_path(path)) {
    const std::filesystem::path found = folder / program;
    if (::access(found.c_str(), mode) == 0) return found;
  }
  return std::nullopt;
}

}  // namespace ringside::launch
