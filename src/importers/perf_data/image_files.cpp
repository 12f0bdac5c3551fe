#include "importers/perf_data/image_files.h"

#include <elf.h>
#include <fmt/core.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/byte_cursor.h"
#include "base/read_text.h"
#include "base/text.h"

namespace ringside::importers::perf_data {
namespace {

using ElfPointer = ImageFiles::ElfPointer;
namespace fs = std::filesystem;

constexpr const char* kDebugFolder = "/usr/lib/debug";

// Null for what is no ELF file: a name in a perf.data may be that of a device, or of a pipe.
ElfPointer open(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return nullptr;
  auto file = elf::ElfFile::open(path);
  return file ? *file : nullptr;
}

bool has_build_id(const elf::ElfFile& file, Bytes build_id) {
  const Bytes own = file.build_id();
  return std::equal(own.begin(), own.end(), build_id.begin(), build_id.end());
}

ElfPointer open_if(const fs::path& path, Bytes build_id) {
  ElfPointer file = open(path);
  return file && has_build_id(*file, build_id) ? file : nullptr;
}

// "12/34…".
fs::path path_of(Bytes build_id) {
  const std::string id = hex_text(build_id);
  return fs::path(id.substr(0, 2)) / id.substr(2);
}

bool is_special(const std::string& path) {
  return path.empty() || path.front() != '/' || path.starts_with("/proc/") ||
         path.starts_with("/sys/") || path.starts_with("/dev/");
}

// As the kernel has mapped it into this process.
ElfPointer own_vdso() {
  const auto* const begin = reinterpret_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR));
  if (begin == nullptr) return nullptr;
  Elf64_Ehdr header;
  std::memcpy(&header, begin, sizeof header);
  constexpr std::size_t kMost = 64 << 10;
  const std::size_t size = header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || size > kMost) return nullptr;
  auto file = elf::ElfFile::from_bytes({begin, begin + size}, "[vdso]");
  return file ? *file : nullptr;
}

}  // namespace

bool ImageFiles::is_same_machine() const {
  if (features_.host.empty()) return true;
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && features_.host == name;
}

ElfPointer ImageFiles::by_build_id(Bytes build_id, const char* file) const {
  if (build_id.size() < 2) return nullptr;
  const fs::path path = path_of(build_id);
  for (const fs::path& folder : folders_) {
    const fs::path entry = folder / ".build-id" / path;
    if (ElfPointer found = open_if(entry / file, build_id)) return found;
    if (ElfPointer found = open_if(entry, build_id)) return found;
  }
  return open_if(fs::path(kDebugFolder) / ".build-id" / (path.string() + ".debug"), build_id);
}

ElfPointer ImageFiles::program(const std::string& path, Bytes build_id) const {
  if (!is_special(path)) {
    if (build_id.empty() && is_same_machine()) return open(path);
    if (!build_id.empty())
      if (ElfPointer found = open_if(path, build_id)) return found;
  }
  return by_build_id(build_id, "elf");
}

ElfPointer ImageFiles::vdso(Bytes build_id) const {
  if (ElfPointer found = by_build_id(build_id, "vdso")) return found;
  ElfPointer own = own_vdso();
  if (own && (build_id.empty() ? is_same_machine() : has_build_id(*own, build_id))) return own;
  return nullptr;
}

ElfPointer ImageFiles::module(Bytes build_id) const {
  ElfPointer found = by_build_id(build_id, "elf");
  return found && found->type() != ET_REL ? found : nullptr;
}

// The places where perf looks (tools/perf/util/symbol.c, vmlinux_path__init).
ElfPointer ImageFiles::kernel(const std::string& release, Bytes build_id) const {
  if (build_id.empty()) return nullptr;
  if (ElfPointer found = by_build_id(build_id, "elf")) return found;
  if (release.empty() || release.find('/') != std::string::npos) return nullptr;
  for (const std::string& path :
       {"/boot/vmlinux-" + release, "/usr/lib/debug/boot/vmlinux-" + release,
        "/lib/modules/" + release + "/build/vmlinux",
        "/usr/lib/debug/lib/modules/" + release + "/vmlinux",
        "/usr/lib/debug/boot/vmlinux-" + release + ".debug"})
    if (ElfPointer found = open_if(path, build_id)) return found;
  return nullptr;
}

std::optional<fs::path> ImageFiles::kallsyms(Bytes build_id) const {
  if (build_id.size() < 2) return std::nullopt;
  for (const fs::path& folder : folders_) {
    fs::path path = folder / ".build-id" / path_of(build_id) / "kallsyms";
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

ImageFiles::Folders build_id_folders(const std::string& input_name) {
  ImageFiles::Folders folders;
  std::error_code ignored;
  const fs::path beside = input_name + ".buildid";
  if (!input_name.empty() && fs::is_directory(beside, ignored)) folders.push_back(beside);
  const char* const own = std::getenv("PERF_BUILDID_DIR");
  const char* const home = std::getenv("HOME");
  if (own != nullptr && *own != '\0')
    folders.emplace_back(own);
  else if (home != nullptr && *home != '\0')
    folders.push_back(fs::path(home) / ".debug");
  return folders;
}

// ELF notes: sizes of owner and description, kind, both padded to 4 bytes.
std::vector<std::byte> running_kernel_build_id() {
  const std::string text = read_text("/sys/kernel/notes");
  ByteCursor cursor(as_bytes(text));
  while (cursor.remaining() >= 12) {
    const auto owner_size = cursor.read<std::uint32_t>();
    const auto size = cursor.read<std::uint32_t>();
    const auto kind = cursor.read<std::uint32_t>();
    const Bytes owner = cursor.read_bytes((std::uint64_t{owner_size} + 3) / 4 * 4);
    const Bytes description = cursor.read_bytes((std::uint64_t{size} + 3) / 4 * 4);
    if (cursor.failed()) return {};
    const bool is_gnu = owner.size() == 4 && std::memcmp(owner.data(), ELF_NOTE_GNU, 4) == 0;
    if (is_gnu && kind == NT_GNU_BUILD_ID) {
      const Bytes id = description.first(size);
      return {id.begin(), id.end()};
    }
  }
  return {};
}

}  // namespace ringside::importers::perf_data
