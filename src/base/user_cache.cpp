#include "base/user_cache.h"

#include <xxhash.h>

#include <cstdlib>
#include <memory>

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

std::uint64_t cache_checksum(std::initializer_list<Bytes> pieces) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       XXH3_freeState);
  XXH3_64bits_reset(state.get());
  for (const Bytes piece : pieces) XXH3_64bits_update(state.get(), piece.data(), piece.size());
  return XXH3_64bits_digest(state.get());
}

}  // namespace ringside
