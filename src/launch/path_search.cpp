#include "launch/path_search.h"

#include <unistd.h>

#include <algorithm>

namespace ringside::launch {

std::optional<std::filesystem::path> find_in_path(const std::string& path,
                                                  const std::string& program, int mode) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::filesystem::path found =
        std::filesystem::path(path.substr(begin, end - begin)) / program;
    if (::access(found.c_str(), mode) == 0) return found;
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace ringside::launch
