#include "app/nearby_kernels.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <set>
#include <tuple>

#include "arch/arch_info.h"
#include "base/clock.h"
#include "base/split.h"

namespace ringside::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 32;
constexpr std::size_t kMaxProbes = 20'000;
constexpr int kDeepest = 6;
constexpr std::uint64_t kLongestNs = 1'000'000'000;

bool may_run(Arch file, Arch machine) { return arch::info_of(machine).boots(file); }

// By its first bytes: most files of a folder are no executables. Nor is a library without an entry
// (e_entry is at offset 24 in both classes, and has four bytes at least).
bool may_be_executable(const fs::path& path) {
  std::array<char, 28> head{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(head.data(), head.size()) || std::memcmp(head.data(), ELFMAG, SELFMAG) != 0)
    return false;
  const int type = static_cast<unsigned char>(head[16]) | static_cast<unsigned char>(head[17]) << 8;
  const bool has_entry =
      std::any_of(head.begin() + 24, head.end(), [](char byte) { return byte != 0; });
  return type == ET_EXEC || (type == ET_DYN && has_entry);
}

struct Candidate {
  std::shared_ptr<const elf::ElfFile> file;
  bool has_lines = false;
  bool has_symbols = false;
  fs::file_time_type written;

  [[nodiscard]] auto rank() const { return std::tie(has_lines, has_symbols, written); }
};

}  // namespace

NearbyKernels find_nearby_kernels(const fs::path& folder, Arch machine) {
  NearbyKernels found;
  std::vector<Candidate> candidates;
  std::error_code ignored;
  std::size_t probes = 0;
  const std::uint64_t begin = monotonic_ns();
  auto entry = fs::recursive_directory_iterator(
      folder, fs::directory_options::skip_permission_denied, ignored);
  for (; entry != fs::recursive_directory_iterator(); entry.increment(ignored)) {
    if (++probes > kMaxProbes || monotonic_ns() - begin > kLongestNs) {
      found.caveat = fmt::format(
          "{} has too many files to look at all of them for the kernel's ELF file: if it is not "
          "found, give it with --kernel FILE",
          folder.string());
      break;
    }
    const bool is_hidden = entry->path().filename().native().starts_with('.');
    if (entry->is_directory(ignored)) {
      if (is_hidden || entry.depth() >= kDeepest) entry.disable_recursion_pending();
      continue;
    }
    if (is_hidden || entry->is_symlink(ignored) || !entry->is_regular_file(ignored) ||
        !may_be_executable(entry->path()))
      continue;
    auto file = elf::ElfFile::open(entry->path());
    if (!file || !may_run((*file)->arch(), machine) || (*file)->section(".interp")) continue;
    candidates.push_back({*file, (*file)->section(".debug_abbrev").has_value(),
                          (*file)->section(".symtab").has_value(),
                          entry->last_write_time(ignored)});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.rank() > b.rank(); });
  if (candidates.size() > kMostFiles) candidates.resize(kMostFiles);
  for (Candidate& candidate : candidates) found.files.push_back(std::move(candidate.file));
  return found;
}

std::vector<std::shared_ptr<const elf::ElfFile>> find_loaded_kernels(const fs::path& loader,
                                                                     const std::string& initrd,
                                                                     const fs::path& working_folder,
                                                                     Arch machine) {
  std::vector<std::shared_ptr<const elf::ElfFile>> files;
  std::set<std::string> names;
  const auto add = [&](const std::shared_ptr<const elf::ElfFile>& file) {
    if (names.insert(file->name()).second) files.push_back(file);
  };
  std::string_view modules = initrd;
  while (!modules.empty()) {
    std::string_view module = take_word(modules, ",");
    const fs::path path = working_folder / take_word(module);
    if (!may_be_executable(path)) continue;
    if (const auto file = elf::ElfFile::open(path); file && may_run((*file)->arch(), machine))
      add(*file);
  }
  std::vector<fs::path> folders{loader.parent_path()};
  if (working_folder.lexically_normal() != folders.front().lexically_normal())
    folders.push_back(working_folder);
  for (const fs::path& folder : folders)
    for (const auto& file : find_nearby_kernels(folder, machine).files) add(file);
  return files;
}

}  // namespace ringside::app
