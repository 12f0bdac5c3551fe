#include "base/atomic_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "base/kept_access.h"
#include "base/unnamed_file.h"

namespace ringside {
namespace {

constexpr std::size_t kBufferSize = 1 << 18;

}  // namespace

Result<std::filesystem::path> linked_file(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // as Linux has it
  std::filesystem::path target = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    // The link that is judged is the one that is read: nothing can be put in its place meanwhile.
    const UniqueFd link(::open(target.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!link.valid() || ::fstat(link.get(), &info) != 0 || !S_ISLNK(info.st_mode)) return target;
    if (may_be_planted(target, info.st_uid))
      return fail(ErrorCode::kIo,
                  "cannot write {}: {} is a link of user {} in a folder that all may write",
                  path.string(), target.string(), info.st_uid);
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlinkat(link.get(), "", text.data(), text.size());
    if (size < 0) return fail_errno("cannot write " + path.string());
    target = target.parent_path() / std::string(text.data(), static_cast<std::size_t>(size));
  }
  return fail_errno("cannot write " + path.string(), ELOOP);
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path, Access access) {
  RINGSIDE_ASSIGN(auto target, linked_file(path));
  UniqueFd fd = open_unnamed(target.parent_path());
  if (!fd.valid()) return fail_errno("cannot write " + path.string());
  return AtomicFile(std::move(fd), path, std::move(target), access);
}

Result<void> AtomicFile::write(std::string_view text) {
  if (buffer_.size() + text.size() < kBufferSize) {
    buffer_.append(text);
    return {};
  }
  RINGSIDE_TRY(flush());
  return write_all(fd_.get(), as_bytes(text), path_.string());
}

Result<void> AtomicFile::flush() {
  auto result = write_all(fd_.get(), as_bytes(buffer_), path_.string());
  buffer_.clear();
  return result;
}

Result<void> AtomicFile::rewrite(std::uint64_t offset, std::string_view text) {
  RINGSIDE_TRY(flush());
  while (!text.empty()) {
    const ssize_t written =
        ::pwrite(fd_.get(), text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail_errno("cannot write " + path_.string());
    text.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<void> AtomicFile::commit() {
  RINGSIDE_TRY(flush());
  if (access_ == Access::kKept) notes_ = keep_access(fd_.get(), target_, 0666, path_.string());
  RINGSIDE_TRY(give_name(fd_, target_, path_.string()));
  fd_.reset();
  return {};
}

Result<void> write_output(const std::filesystem::path& path, std::string_view text) {
  RINGSIDE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  RINGSIDE_TRY(file.write(text));
  return file.commit();
}

}  // namespace ringside
