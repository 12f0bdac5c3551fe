#include "guestos/linux/host_files.h"

#include <algorithm>
#include <optional>

namespace ringside::guestos {
namespace {

// Names in a caveat.
constexpr std::size_t kMaxTold = 5;
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

}  // namespace

std::shared_ptr<const elf::ElfFile> HostFiles::in_sysroot(const std::string& path,
                                                          const elf::ElfFile* in_guest) {
  const auto relative = relative_path(path);
  if (sysroot_.empty() || !relative) return nullptr;
  auto opened = elf::ElfFile::open(sysroot_ / *relative);
  if (!opened) return nullptr;
  if (in_guest == nullptr || have_same_build_id(**opened, *in_guest)) return *opened;
  const bool is_told = std::find(others_.begin(), others_.end(), path) != others_.end();
  if (!is_told && others_.size() < kMaxOthers) others_.push_back(path);
  return nullptr;
}

std::string HostFiles::caveat() const {
  if (others_.empty()) return {};
  const std::size_t told = std::min(others_.size(), kMaxTold);
  std::string text = fmt::format("{}: not used, for the guest has files of another build id: {}",
                                 sysroot_.string(), others_.front());
  for (std::size_t i = 1; i < told; ++i) text += ", " + others_[i];
  if (told < others_.size()) text += fmt::format(" and {} more", others_.size() - told);
  return text;
}

}  // namespace ringside::guestos
