#include "base/unnamed_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/kept_access.h"
#include "base/signals_held.h"

namespace ringside {
namespace {

// Nothing where a file cannot get a name.
std::optional<std::string> link_as_temporary(const std::string& descriptor,
                                             const std::filesystem::path& folder) {
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    std::string name = (folder / fmt::format("{}{}-{}", kTemporaryPrefix, ::getpid(), i)).string();
    if (::linkat(AT_FDCWD, descriptor.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
      return name;
    if (errno != EEXIST) break;
  }
  return std::nullopt;
}

Result<void> copy_to(const std::string& name, const UniqueFd& made, const UniqueFd& file,
                     const std::filesystem::path& path, const std::string& what) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_errno("cannot write " + what);
  RINGSIDE_TRY(
      copy_bytes(file.get(), 0, static_cast<std::uint64_t>(info.st_size), made.get(), what));
  copy_access(file.get(), made.get());
  if (::rename(name.c_str(), path.c_str()) != 0) return fail_errno("cannot write " + what);
  return {};
}

}  // namespace

std::string temporary_name(const std::filesystem::path& folder) {
  return (folder / fmt::format("{}XXXXXX", kTemporaryPrefix)).string();
}

UniqueFd open_unnamed(const std::filesystem::path& folder) {
  const std::filesystem::path in = folder.empty() ? "." : folder;
  UniqueFd file(::open(in.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.valid()) return file;
  const SignalsHeld held;
  std::string name = temporary_name(in);
  file.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (file.valid()) ::unlink(name.c_str());
  return file;
}

Result<void> copy_bytes(int from, std::uint64_t offset, std::uint64_t size, int to,
                        const std::string& what) {
  std::array<std::byte, 1 << 16> part;
  while (size != 0) {
    if (SignalsHeld::is_one_waiting()) return fail(ErrorCode::kClosed, "{}: interrupted", what);
    const ssize_t got = ::pread(from, part.data(), std::min<std::uint64_t>(part.size(), size),
                                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail_errno("cannot write " + what, got < 0 ? errno : EIO);
    RINGSIDE_TRY(write_all(to, Bytes(part).first(static_cast<std::size_t>(got)), what));
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<void> give_name(const UniqueFd& file, const std::filesystem::path& path,
                       const std::string& what) {
  const std::string descriptor = fmt::format("/proc/self/fd/{}", file.get());
  const SignalsHeld held;
  if (::linkat(AT_FDCWD, descriptor.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0)
    return {};
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (errno == EEXIST)
    if (const auto linked = link_as_temporary(descriptor, folder)) {
      if (::rename(linked->c_str(), path.c_str()) == 0) return {};
      auto failed = fail_errno("cannot write " + what);
      ::unlink(linked->c_str());
      return failed;
    }
  std::string name = temporary_name(folder);
  const UniqueFd made(::mkostemp(name.data(), O_CLOEXEC));
  if (!made.valid()) return fail_errno("cannot write " + what);
  auto copied = copy_to(name, made, file, path, what);
  if (!copied) ::unlink(name.c_str());
  return copied;
}

}  // namespace ringside
