#include "symbols/linux_image/kernel_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/little_endian.h"
#include "base/unnamed_file.h"
#include "base/user_cache.h"

namespace ringside::symbols {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> kMagic{'R', 'S', 'K', 'E', 'R', 'N', '0', '2'};
constexpr const char* kSuffix = ".kernel";
constexpr std::chrono::hours kLeftBehind{1};  // a writer does not need so long

using Origin = KernelCache::Origin;

constexpr std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

std::string name_of(const Origin& origin) {
  return fmt::format("{:x}-{:x}-{:x}-{:x}{}", origin.device, origin.inode, origin.changed_ns,
                     origin.program_modified_ns, kSuffix);
}

// An entry ends with this, and with the checksum of all that is before it; before it lies the
// kernel's path, and before that the ELF file. So an entry that was cut has none.
struct Footer {
  Origin origin;
  std::uint64_t elf_bytes = 0;
  std::uint64_t path_bytes = 0;
  std::array<char, 8> magic = kMagic;
};
constexpr std::size_t kEndBytes = sizeof(Footer) + sizeof(std::uint64_t);

std::optional<Footer> footer_of(Bytes entry) {
  if (entry.size() < kEndBytes) return std::nullopt;
  const std::uint64_t rest = entry.size() - kEndBytes;
  const auto footer = load<Footer>(entry, rest);
  if (footer.magic != kMagic || footer.elf_bytes > rest ||
      footer.path_bytes != rest - footer.elf_bytes)
    return std::nullopt;
  return footer;
}

bool is_intact(Bytes entry) {
  const std::size_t size = entry.size() - sizeof(std::uint64_t);
  return load<std::uint64_t>(entry, size) == cache_checksum({entry.first(size)});
}

// Nobody else could have written or replaced it.
bool is_of_this_user(const struct stat& info) {
  return info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::shared_ptr<const MappedFile> open_entry(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || !is_of_this_user(info))
    return nullptr;
  auto file = MappedFile::open(path);
  return file ? *file : nullptr;
}

bool write_entry(const fs::path& path, Bytes elf, const std::string& kernel, const Origin& origin) {
  auto file = AtomicFile::create(path, AtomicFile::Access::kPrivate);
  if (!file) return false;
  const Footer footer{.origin = origin, .elf_bytes = elf.size(), .path_bytes = kernel.size()};
  const Bytes end = std::as_bytes(std::span(&footer, 1));
  const std::uint64_t checksum = cache_checksum({elf, as_bytes(kernel), end});
  return file->write(as_text(elf)) && file->write(kernel) && file->write(as_text(end)) &&
         file->write(as_text(std::as_bytes(std::span(&checksum, 1)))) && file->commit();
}

// The files of a folder that are the cache's: entries, and what is being written or was left.
std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error))
    if (file->path().extension() == kSuffix ||
        file->path().filename().string().starts_with(kTemporaryPrefix))
      found.push_back(file->path());
  return found;
}

}  // namespace

KernelCache::KernelCache() {
  if (const fs::path folder = user_cache_folder(); !folder.empty()) folder_ = folder / "kernels";
}

std::optional<Origin> KernelCache::origin_of(const fs::path& kernel) {
  struct stat file {};
  struct stat program {};
  if (::stat(kernel.c_str(), &file) != 0 || !S_ISREG(file.st_mode) ||
      ::stat("/proc/self/exe", &program) != 0)
    return std::nullopt;
  return Origin{file.st_dev,
                file.st_ino,
                static_cast<std::uint64_t>(file.st_size),
                nanoseconds(file.st_mtim),
                nanoseconds(file.st_ctim),
                static_cast<std::uint64_t>(program.st_size),
                nanoseconds(program.st_mtim)};
}

bool KernelCache::is_usable() const {
  struct stat info {};
  if (folder_.empty() || ::lstat(folder_.c_str(), &info) == 0) return is_ours();
  fs::path above = folder_.parent_path();
  while (::stat(above.c_str(), &info) != 0 && above != above.parent_path())
    above = above.parent_path();
  return is_of_this_user(info);
}

bool KernelCache::is_ours() const {
  struct stat info {};
  return !folder_.empty() && ::lstat(folder_.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         is_of_this_user(info);
}

std::shared_ptr<const elf::ElfFile> KernelCache::find(const fs::path& kernel) const {
  const auto origin = origin_of(kernel);
  if (!is_ours() || !origin) return nullptr;
  const fs::path path = folder_ / name_of(*origin);
  auto file = open_entry(path);
  if (!file) return nullptr;
  const auto footer = footer_of(file->bytes());
  const bool is_whole = footer && footer->origin == *origin && is_intact(file->bytes());
  auto elf = is_whole ? elf::ElfFile::from_copy(std::move(file), footer->elf_bytes, kernel.string())
                      : fail(ErrorCode::kFormat, "{} is damaged", path.string());
  if (!elf) {
    ::unlink(path.c_str());  // it is made anew
    return nullptr;
  }
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);  // when it was used last
  return *elf;
}

std::shared_ptr<const elf::ElfFile> KernelCache::keep(const fs::path& kernel,
                                                      const std::optional<Origin>& origin,
                                                      Bytes elf) const {
  if (!origin || elf.size() < kSmallest || elf.size() > limits_.bytes) return nullptr;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const bool is_old = nanoseconds(now) - origin->changed_ns >= limits_.youngest.count();
  // In the home of another user, as sudo has it, what is made here would be in that user's way.
  if (!is_old || origin_of(kernel) != origin || !is_usable()) return nullptr;
  std::error_code ignored;
  fs::create_directories(folder_.parent_path(), ignored);
  ::mkdir(folder_.c_str(), S_IRWXU);
  if (!is_ours()) return nullptr;
  make_room(elf.size());
  if (!write_entry(folder_ / name_of(*origin), elf, kernel.string(), *origin)) return nullptr;
  return find(kernel);
}

void KernelCache::make_room(std::uint64_t bytes) const {
  std::vector<Entry> kept = entries();
  std::uint64_t sum = bytes;
  for (const Entry& entry : kept) sum += entry.bytes;
  // The rest of a writer that was killed goes first.
  const auto now = std::chrono::system_clock::now();
  const auto is_left = [&](const Entry& entry) {
    const bool is_new = entry.file.filename().string().starts_with(kTemporaryPrefix);
    if (!is_new || now - entry.used < kLeftBehind) return false;
    sum -= entry.bytes;
    return ::unlink(entry.file.c_str()) == 0;
  };
  kept.erase(std::remove_if(kept.begin(), kept.end(), is_left), kept.end());
  while (!kept.empty() && (sum > limits_.bytes || kept.size() >= limits_.entries)) {
    sum -= kept.back().bytes;
    ::unlink(kept.back().file.c_str());  // who has mapped it keeps it
    kept.pop_back();
  }
}

std::vector<KernelCache::Entry> KernelCache::entries() const {
  std::vector<Entry> found;
  if (!is_ours()) return found;
  for (const fs::path& file : files_in(folder_)) {
    struct stat info {};
    if (::lstat(file.c_str(), &info) != 0) continue;
    Entry entry{.file = file,
                .kernel = {},
                .bytes = static_cast<std::uint64_t>(info.st_size),
                .used = std::chrono::system_clock::time_point(
                    std::chrono::nanoseconds(nanoseconds(info.st_mtim)))};
    if (const auto mapped = open_entry(entry.file))
      if (const auto footer = footer_of(mapped->bytes())) {
        const Bytes path = mapped->bytes().subspan(footer->elf_bytes, footer->path_bytes);
        entry.kernel.assign(reinterpret_cast<const char*>(path.data()), path.size());
      }
    found.push_back(std::move(entry));
  }
  std::sort(found.begin(), found.end(),
            [](const Entry& a, const Entry& b) { return a.used > b.used; });
  return found;
}

Result<void> KernelCache::clear() const {
  if (!is_ours()) return {};
  for (const fs::path& file : files_in(folder_))
    if (::unlink(file.c_str()) != 0 && errno != ENOENT)
      return fail_errno("cannot remove " + file.string());
  return {};
}

}  // namespace ringside::symbols
