#include "base/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace ringside {

Result<void> refuse_symbolic_link(const std::filesystem::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return {};
  return fail(ErrorCode::kUsage,
              "cannot write {}: it is a symbolic link; name the file itself (- is standard output)",
              path.string());
}

Result<UniqueFd> create_private_file(const std::filesystem::path& path) {
  RINGSIDE_TRY(refuse_symbolic_link(path));
  struct stat info {};
  const bool exists = ::lstat(path.c_str(), &info) == 0;
  if (exists && S_ISREG(info.st_mode)) {
    const std::string old = path.string() + ".old";
    if (::rename(path.c_str(), old.c_str()) != 0)
      return fail_errno("cannot move the older " + path.string() + " to " + old);
  }
  const bool is_new = !exists || S_ISREG(info.st_mode);
  const int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (is_new ? O_CREAT | O_EXCL : 0);
  UniqueFd fd(::open(path.c_str(), flags, 0600));
  if (!fd.valid()) return fail_errno("cannot write " + path.string());
  return fd;
}

}  // namespace ringside
