#include "launch/path_search.h"

#include <unistd.h>

#include <algorithm>

namespace ringside::launch {

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> folders;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    folders.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

std::optional<std::filesystem::path> find_in_path(const std::string& path,
                                                  const std::string& program, int mode) {
  for (const std::filesystem::path folder : split_path(path)) {
    const std::filesystem::path found = folder / program;
    if (::access(found.c_str(), mode) == 0) return found;
  }
  return std::nullopt;
}

}  // namespace ringside::launch
