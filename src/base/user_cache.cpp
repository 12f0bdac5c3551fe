#include "base/user_cache.h"

#include <cstdlib>

namespace ringside {
namespace {

// As the XDG Base Directory Specification has it, a path that is not absolute counts as none.
std::filesystem::path folder_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value == '/' ? value : "";
}

}  // namespace

std::filesystem::path user_cache_folder() {
  std::filesystem::path folder = folder_in("XDG_CACHE_HOME");
  if (folder.empty())
    if (const auto home = folder_in("HOME"); !home.empty()) folder = home / ".cache";
  return folder.empty() ? folder : folder / "ringside";
}

}  // namespace ringside
