#include "symbols/debug_files.h"

#include <zlib.h>

#include <algorithm>

#include "base/byte_cursor.h"
#include "base/text.h"
#include "kernel_image/kernel_compression.h"
#include "kernel_image/open_elf.h"
#include "symbols/debuginfod.h"

namespace ringside::symbols {
namespace {

namespace fs = std::filesystem;
using FilePtr = std::shared_ptr<const elf::ElfFile>;

constexpr std::size_t kMaxMiniDebugInfo = std::size_t{256} << 20;  // real ones have some 100 KB

FilePtr open_elf(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return nullptr;
  auto file = kernel_image::open_elf(path);
  return file ? *file : nullptr;
}

bool same(Bytes a, Bytes b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// False only where both have a build id, and these are different.
bool may_belong(const elf::ElfFile& a, const elf::ElfFile& b) {
  return a.build_id().empty() || b.build_id().empty() || same(a.build_id(), b.build_id());
}

fs::path folder_of(const elf::ElfFile& file) {
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(file.name(), ignored);
  return path.empty() ? fs::path(file.name()).parent_path() : path.parent_path();
}

// The checksum of .gnu_debuglink is zlib's CRC-32 over the whole file.
bool has_checksum(const elf::ElfFile& file, std::uint32_t wanted) {
  const Bytes bytes = file.file_bytes();
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == wanted;
}

FilePtr mini_debug_info(const elf::ElfFile& file) {
  const auto section = file.section(".gnu_debugdata");
  if (!section) return nullptr;
  auto bytes = kernel_image::decompress_kernel(kernel_image::Compression::kXz, section->bytes,
                                               kMaxMiniDebugInfo);
  if (!bytes) return nullptr;
  auto inner = elf::ElfFile::from_bytes(std::move(*bytes), file.name() + " (.gnu_debugdata)");
  return inner ? *inner : nullptr;
}

bool has_debug_info(const elf::ElfFile& file) { return file.section(".debug_info").has_value(); }
bool has_symbol_table(const elf::ElfFile& file) { return file.section(".symtab").has_value(); }

}  // namespace

FilePtr DebugFiles::by_build_id(Bytes id) {
  if (id.size() < 2) return nullptr;
  const std::string name = hex_text(id);
  for (const fs::path& folder : options_.folders) {
    auto file = open_elf(folder / ".build-id" / name.substr(0, 2) / (name.substr(2) + ".debug"));
    if (file && same(file->build_id(), id)) return file;
  }
  return nullptr;
}

FilePtr DebugFiles::by_debuglink(const elf::ElfFile& file) {
  const auto section = file.section(".gnu_debuglink");
  if (!section) return nullptr;
  ByteCursor cursor(section->bytes);
  const std::string_view name = cursor.read_c_string();
  cursor.seek((cursor.offset() + 3) / 4 * 4);
  const auto checksum = cursor.read<std::uint32_t>();
  // The link is a name, never a way out of the folders that are examined.
  if (cursor.failed() || name.empty() || name.find('/') != std::string_view::npos) return nullptr;
  const fs::path folder = folder_of(file);
  std::vector<fs::path> candidates{folder / name, folder / ".debug" / name};
  for (const fs::path& debug : options_.folders)
    candidates.push_back(debug / folder.relative_path() / name);
  for (const fs::path& path : candidates) {
    std::error_code ignored;
    if (fs::equivalent(path, file.name(), ignored)) continue;
    auto found = open_elf(path);
    if (!found) continue;
    const bool same_id = !file.build_id().empty() && same(file.build_id(), found->build_id());
    if (same_id || (may_belong(file, *found) && has_checksum(*found, checksum))) return found;
  }
  return nullptr;
}

FilePtr DebugFiles::by_path(const elf::ElfFile& file) {
  const fs::path own = folder_of(file) / fs::path(file.name()).filename();
  // Without a build id nothing would show that the two belong together.
  if (file.build_id().empty()) return nullptr;
  for (const fs::path& debug : options_.folders)
    for (const char* suffix : {"", ".debug"}) {
      auto found = open_elf((debug / own.relative_path()).string() + suffix);
      if (found && same(file.build_id(), found->build_id())) return found;
    }
  return nullptr;
}

FilePtr DebugFiles::separate(const elf::ElfFile& file) {
  if (auto found = by_build_id(file.build_id())) return found;
  if (auto found = by_debuglink(file)) return found;
  if (auto found = by_path(file)) return found;
  if (!options_.debuginfod || file.build_id().empty()) return nullptr;
  const auto path = fetch_debug_info(file.build_id());
  auto found = path ? open_elf(*path) : nullptr;
  return found && same(file.build_id(), found->build_id()) ? found : nullptr;
}

FilePtr DebugFiles::alternate(const elf::ElfFile& file) {
  const auto section = file.section(".gnu_debugaltlink");
  if (!section) return nullptr;
  ByteCursor cursor(section->bytes);
  const std::string_view name = cursor.read_c_string();
  const Bytes id = cursor.read_bytes(cursor.remaining());
  if (cursor.failed() || name.empty() || id.empty()) return nullptr;
  // An absolute name stays as it is; others count from the folder of the file.
  if (auto found = open_elf(folder_of(file) / name); found && same(found->build_id(), id))
    return found;
  return by_build_id(id);
}

FilePtr DebugFiles::package(const elf::ElfFile& file) { return open_elf(file.name() + ".dwp"); }

FilePtr DebugFiles::split(const elf::ElfFile& file, std::string_view comp_dir,
                          std::string_view name) {
  if (auto found = open_elf(fs::path(comp_dir) / name)) return found;
  const fs::path folder = folder_of(file);
  if (auto found = open_elf(folder / name)) return found;
  return open_elf(folder / fs::path(name).filename());
}

Symbolizer open_symbolizer(FilePtr file, const DebugFileOptions& options, Inlines inlines) {
  const auto files = std::make_shared<DebugFiles>(options);
  const bool complete = has_debug_info(*file);
  const FilePtr separate = complete ? nullptr : files->separate(*file);
  std::vector<SymbolTable> tables;
  if (!has_symbol_table(*file)) {
    if (separate && has_symbol_table(*separate))
      tables.push_back(SymbolTable::from_elf(separate));
    else if (auto mini = mini_debug_info(*file))
      tables.push_back(SymbolTable::from_elf(std::move(mini)));
  }
  tables.push_back(SymbolTable::from_elf(file));
  const FilePtr& with_debug_info = complete ? file : separate;
  std::unique_ptr<DwarfSymbols> dwarf;
  if (with_debug_info) dwarf = DwarfSymbols::from_elf(with_debug_info, files);
  return Symbolizer(std::move(tables), std::move(dwarf), inlines);
}

}  // namespace ringside::symbols
