#include "symbols/debuginfod.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace ringside::symbols {
namespace {

// The three functions that are called, as elfutils/debuginfod.h declares them.
struct Client;
using Begin = Client* (*)();
using Find = int (*)(Client*, const unsigned char* build_id, int build_id_size, char** path);
using End = void (*)(Client*);

template <class Function>
Function load(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

std::optional<std::filesystem::path> fetch_debug_info(Bytes build_id) {
  const char* urls = std::getenv("DEBUGINFOD_URLS");
  if (urls == nullptr || *urls == '\0' || build_id.empty()) return std::nullopt;
  void* library = ::dlopen("libdebuginfod.so.1", RTLD_NOW);
  if (library == nullptr) return std::nullopt;
  const auto begin = load<Begin>(library, "debuginfod_begin");
  const auto find = load<Find>(library, "debuginfod_find_debuginfo");
  const auto end = load<End>(library, "debuginfod_end");
  std::optional<std::filesystem::path> result;
  if (begin != nullptr && find != nullptr && end != nullptr) {
    Client* client = begin();
    char* path = nullptr;
    const int fd = client == nullptr
                       ? -1
                       : find(client, reinterpret_cast<const unsigned char*>(build_id.data()),
                              static_cast<int>(build_id.size()), &path);
    if (fd >= 0) {
      ::close(fd);
      if (path != nullptr) result = path;
      std::free(path);
    }
    if (client != nullptr) end(client);
  }
  // Not closed: the library below it, libcurl, does not bear being loaded twice.
  return result;
}

}  // namespace ringside::symbols
