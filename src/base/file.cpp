#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/shrunk_files.h"

namespace ringside {
namespace {

// The file's bytes in memory of our own, which is a mapping too; zeros where the file has ended.
Result<const std::byte*> read_copy(int fd, std::size_t size, const std::string& name) {
  void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fail_errno(name);
  auto* const bytes = static_cast<std::byte*>(memory);
  for (std::size_t at = 0; at < size;) {
    const ssize_t got = ::pread(fd, bytes + at, size - at, static_cast<off_t>(at));
    if (got <= 0) break;
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  // A pipe is not waited for: it is refused.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return fail_errno(path.string());
  return map(fd.get(), path.string());
}

Result<std::shared_ptr<const MappedFile>> MappedFile::map(int fd, const std::string& name) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail_errno(name);
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::kFormat, "{}: not a regular file", name);
  const auto size = static_cast<std::size_t>(info.st_size);
  const std::byte* data = nullptr;
  bool is_mapped = true;  // not a copy
  if (size > 0) {
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) return fail_errno(name);
    data = static_cast<const std::byte*>(mapped);
    if (!watch_mapping(mapped, size, name)) {
      ::munmap(mapped, size);
      RINGSIDE_ASSIGN(data, read_copy(fd, size, name));
      is_mapped = false;
    }
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(data, size, is_mapped));
}

MappedFile::~MappedFile() {
  if (size_ == 0) return;
  forget_mapping(data_);
  ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::release_pages() const {
  if (size_ != 0 && is_mapped_) ::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

Result<void> write_all(int fd, Bytes bytes, const std::string& what) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      const bool reader_is_gone = errno == EPIPE;
      auto failed = fail_errno("cannot write " + what);
      if (reader_is_gone) failed.value().code = ErrorCode::kClosed;
      return failed;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace ringside
