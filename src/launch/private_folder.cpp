#include "launch/private_folder.h"

#include <cstdlib>

namespace ringside::launch {
namespace {

// sockaddr_un holds 108 bytes; what stands in the folder needs about 20.
constexpr std::size_t kLongestPath = 80;

Result<std::filesystem::path> make_in(const std::filesystem::path& parent) {
  std::string name = (parent / "ringside-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return fail_errno("cannot make a private folder in " + parent.string());
  return std::filesystem::path(name);
}

}  // namespace

Result<PrivateFolder> PrivateFolder::create() {
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime) {
    auto folder = make_in(runtime);
    if (folder && folder->string().size() < kLongestPath) return PrivateFolder(*folder);
  }
  std::error_code ignored;
  std::filesystem::path parent = std::filesystem::temp_directory_path(ignored);
  if (parent.empty() || parent.string().size() + 16 > kLongestPath) parent = "/tmp";
  RINGSIDE_ASSIGN(auto path, make_in(parent));
  return PrivateFolder(path);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ringside::launch
