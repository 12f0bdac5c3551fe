#include "guestos/linux/files/host_files.h"

#include <algorithm>
#include <optional>

namespace ringside::guestos {
namespace {

// Names in a caveat.
constexpr std::size_t kMaxReported = 5;
// Files that are counted for it.
constexpr std::size_t kMaxOthers = 1000;

// The guest says what its files are called, and is not to lead out of the folder.
std::optional<std::filesystem::path> relative_path(const std::string& path) {
  std::filesystem::path relative = std::filesystem::path(path).relative_path();
  if (relative.empty() || std::find(relative.begin(), relative.end(), "..") != relative.end())
    return std::nullopt;
  return relative;
}

bool have_same_build_id(const elf::ElfFile& a, const elf::ElfFile& b) {
  const Bytes one = a.build_id();
  const Bytes other = b.build_id();
  return !one.empty() && std::equal(one.begin(), one.end(), other.begin(), other.end());
}

bool agree(const CachedFile& known, Bytes whole) {
  if (known.bytes.size() != whole.size() || known.present.empty()) return false;
  for (std::size_t page = 0; page < known.present.size(); ++page) {
    const std::size_t start = page * known.page_size;
    const std::size_t size = std::min<std::size_t>(known.page_size, whole.size() - start);
    if (known.present[page] &&
        !std::ranges::equal(Bytes(known.bytes).subspan(start, size), whole.subspan(start, size)))
      return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<const elf::ElfFile> HostFiles::in_sysroot(const std::string& path,
                                                          const elf::ElfFile* in_guest) {
  const auto relative = relative_path(path);
  if (sysroot_.empty() || !relative) return nullptr;
  auto opened = elf::ElfFile::open(sysroot_ / *relative);
  if (!opened) return nullptr;
  if (in_guest == nullptr || have_same_build_id(**opened, *in_guest)) return *opened;
  const bool is_reported = std::find(others_.begin(), others_.end(), path) != others_.end();
  if (!is_reported && others_.size() < kMaxOthers) others_.push_back(path);
  return nullptr;
}

std::shared_ptr<const elf::ElfFile> HostFiles::in_initramfs(const std::string& path,
                                                            const CachedFile& in_guest) {
  if (initramfs_path_.empty()) return nullptr;
  if (!initramfs_) initramfs_ = Initramfs::open(initramfs_path_);
  if (!*initramfs_) return nullptr;
  const Bytes found = (*initramfs_)->find(path);
  if (found.empty() || !agree(in_guest, found)) return nullptr;
  auto opened = elf::ElfFile::from_bytes({found.begin(), found.end()},
                                         std::filesystem::path(path).filename());
  return opened ? *opened : nullptr;
}

std::string HostFiles::caveat() const {
  std::string text;
  if (!others_.empty())
    text = fmt::format("{}: not used, for the guest has files of another build id: {}",
                       sysroot_.string(), others_.front());
  const std::size_t reported = std::min(others_.size(), kMaxReported);
  for (std::size_t i = 1; i < reported; ++i) text += ", " + others_[i];
  if (reported < others_.size()) text += fmt::format(" and {} more", others_.size() - reported);
  if (initramfs_ && !*initramfs_)
    text += fmt::format("{}no program was looked for in the initramfs: {}",
                        text.empty() ? "" : "; ", initramfs_->error().message);
  return text;
}

}  // namespace ringside::guestos
