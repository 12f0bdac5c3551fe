#include "disk_image/temporary_file.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

#include "base/unnamed_file.h"
#include "disk_image/byte_text.h"

namespace ringside::disk_image {
namespace {

std::string folder() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : path.string();
}

}  // namespace

Result<UniqueFd> make_temporary_file(std::uint64_t size) {
  UniqueFd file = open_unnamed(folder());
  if (!file.valid()) return fail_errno("cannot make a temporary file in " + folder());
  if (size != 0 && ::ftruncate(file.get(), static_cast<off_t>(size)) != 0)
    return fail_errno(fmt::format("a temporary file of {} in {}", byte_text(size), folder()));
  return file;
}

Result<void> check_room(int file, std::uint64_t bytes, const std::string& what) {
  struct statvfs info {};
  if (::fstatvfs(file, &info) != 0) return {};
  const std::uint64_t room = std::uint64_t{info.f_bavail} * info.f_frsize;
  if (bytes <= room) return {};
  return fail(ErrorCode::kIo,
              "a copy of {} needs {}, and {} has room for {}: set TMPDIR to a folder that has more",
              what, byte_text(bytes), folder(), byte_text(room));
}

tl::unexpected<Error> no_room(const std::string& what) {
  return fail(ErrorCode::kIo, "{}: {} has no room for a copy: set TMPDIR to a folder that has more",
              what, folder());
}

}  // namespace ringside::disk_image
