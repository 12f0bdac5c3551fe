#include "base/contained_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace ringside {
namespace {

std::string link_of(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

}  // namespace

std::filesystem::path path_of(int fd) {
  std::error_code error;
  auto path = std::filesystem::read_symlink(link_of(fd), error);
  return error || !path.is_absolute() ? std::filesystem::path() : path;
}

bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder) {
  if (folder.empty()) return false;
  const auto part = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return part.first == folder.end() && part.second != path.end();
}

Result<UniqueFd> open_below(const std::filesystem::path& folder,
                            const std::filesystem::path& path) {
  const UniqueFd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place.valid()) return fail_errno(path.string());
  struct stat info {};
  if (::fstat(place.get(), &info) != 0) return fail_errno(path.string());
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::kFormat, "{}: not a regular file", path.string());
  if (const auto there = path_of(place.get()); !is_below(there, folder))
    return fail(ErrorCode::kMismatch, "{}: it leads to {}, which is not below {}", path.string(),
                there.string(), folder.string());
  UniqueFd fd(::open(link_of(place.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return fail_errno(path.string());
  return fd;
}

}  // namespace ringside
