#include "launch/private_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace ringside::launch {
namespace {

// sockaddr_un holds 108 bytes; what stands in the folder needs about 20.
constexpr std::size_t kLongestPath = 80;

constexpr std::string_view kPrefix = "ringside-run-";

constexpr std::size_t kRandomPart = 6;  // mkdtemp()'s

constexpr const char* kFallback = "/tmp";

// A user may have a folder whose name only begins so.
bool is_our_name(std::string_view name) {
  return name.starts_with(kPrefix) && name.size() == kPrefix.size() + kRandomPart &&
         std::all_of(name.end() - kRandomPart, name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0; });
}

// Whether what stands in a folder there can be named in QEMU's options, in PATH, and as a socket.
bool is_fit(const std::filesystem::path& parent) {
  constexpr std::string_view kSeparators = ",:= \t\n";  // QEMU's, and PATH's
  const std::string& path = parent.native();
  return !path.empty() && path.find_first_of(kSeparators) == std::string::npos &&
         path.size() + 1 + kPrefix.size() + kRandomPart < kLongestPath;
}

// Opened so that a program that is started here holds the lock too.
UniqueFd lock(const std::filesystem::path& folder) {
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

bool is_ours(const std::filesystem::path& folder) {
  struct stat info {};
  return ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == ::geteuid() && (info.st_mode & 0077) == 0;
}

void clear_what_is_left(const std::filesystem::path& parent) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!is_our_name(entry->path().filename().string()) || !is_ours(entry->path())) continue;
    std::error_code ignored;
    if (lock(entry->path()).valid()) std::filesystem::remove_all(entry->path(), ignored);
  }
}

Result<PrivateFolder> make_in_place_of_others(const std::filesystem::path& parent) {
  clear_what_is_left(parent);
  return PrivateFolder::make_in(parent);
}

}  // namespace

Result<PrivateFolder> PrivateFolder::make_in(const std::filesystem::path& parent) {
  // Under a name that nobody searches for, until it is locked.
  std::string unlocked = (parent / fmt::format(".{}XXXXXX", kPrefix)).string();
  if (::mkdtemp(unlocked.data()) == nullptr)
    return fail_errno("cannot make a private folder in " + parent.string());
  PrivateFolder folder(unlocked, lock(unlocked));
  const std::filesystem::path path =
      parent / std::filesystem::path(unlocked).filename().string().substr(1);
  if (::rename(unlocked.c_str(), path.c_str()) != 0)
    return fail_errno("cannot make a private folder in " + parent.string());
  folder.path_ = path;
  return folder;
}

Result<PrivateFolder> PrivateFolder::create() {
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && is_fit(runtime))
    if (auto folder = make_in_place_of_others(runtime)) return folder;
  std::error_code ignored;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(ignored);
  if (is_fit(parent)) return make_in_place_of_others(parent);
  auto folder = make_in_place_of_others(kFallback);
  if (!folder && !parent.empty())
    return fail(ErrorCode::kIo,
                "{}; it takes the place of {}, whose path is long or has a character that QEMU's "
                "options or PATH do not take: set TMPDIR to another folder",
                folder.error().message, parent.string());
  return folder;
}

Result<PrivateFolder> PrivateFolder::create_for_large_files() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  return make_in_place_of_others(error ? kFallback : parent);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

bool is_in_private_folder(const std::filesystem::path& path) {
  return is_our_name(path.parent_path().filename().string());
}

}  // namespace ringside::launch
