#include "importers/perf_data/user_images.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/read_text.h"
#include "base/split.h"
#include "elf/code_hash.h"
#include "elf/code_size.h"
#include "symbols/symbol_file.h"
#include "symbols/symbol_list.h"

namespace ringside::importers::perf_data {
namespace {

constexpr std::uint64_t kPage = 4096;
// Position-independent code is loaded above it, and all other executables are linked below it.
constexpr std::uint64_t kLowestLoaded = 0x10000000;

// Memory without a file (tools/perf/util/map.c: is_anon_memory, is_no_dso_memory).
bool is_anonymous(std::string_view path) {
  return path == "//anon" || path.starts_with("/dev/zero") || path.starts_with("/anon_hugepage") ||
         path.starts_with("[stack") || path.starts_with("/SYSV") || path == "[heap]";
}

// Place in the file minus linked address, of the code that is mapped from `offset` on.
std::optional<std::uint64_t> distance_in(const elf::ElfFile& file, std::uint64_t offset,
                                         std::uint64_t size) {
  // A file of symbols alone has segments without contents, and their places may be gone.
  const auto is_linked_there = [&](const elf::Segment& segment) {
    return segment.executable && segment.file_size == 0 && segment.contains({offset});
  };
  if (std::any_of(file.segments().begin(), file.segments().end(), is_linked_there)) return 0;
  for (const elf::Segment& segment : file.segments()) {
    // A mapping begins at the page that the segment begins in.
    const std::uint64_t first = segment.offset.value & ~(kPage - 1);
    const std::uint64_t bytes = segment.file_size != 0 ? segment.file_size : segment.memory_size;
    const bool is_other = offset >= segment.offset.value + bytes || offset + size <= first;
    if (segment.executable && !is_other) return segment.offset.value - segment.address.value;
  }
  return std::nullopt;
}

// A hexadecimal number, with or without "0x" in front; 0 where it is none.
std::uint64_t number_in(std::string_view word) {
  if (word.starts_with("0x") || word.starts_with("0X")) word.remove_prefix(2);
  std::uint64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number, 16);
  return number;
}

// Lines of "START SIZE NAME", of a program that makes code at run time. Java writes "0x" in front
// of both numbers.
symbols::SymbolTable read_perf_map(const std::filesystem::path& path) {
  std::error_code ignored;
  constexpr std::uintmax_t kMost = 256u << 20;
  if (!std::filesystem::is_regular_file(path, ignored) ||
      std::filesystem::file_size(path, ignored) > kMost)
    return {};
  const std::string text = read_text(path);
  std::vector<symbols::PackedFunction> functions;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    symbols::PackedFunction function;
    for (std::uint64_t* const number : {&function.address.value, &function.size})
      *number = number_in(take_word(line, " "));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    function.name = line;
    if (!function.name.empty() && function.address.value != 0)
      functions.push_back(std::move(function));
  }
  auto elf = elf::ElfFile::from_bytes(symbols::make_symbol_file(Arch::kX86_64, {}, functions),
                                      path.string());
  return elf ? symbols::SymbolTable::from_elf(*elf) : symbols::SymbolTable();
}

}  // namespace

std::uint32_t UserImages::number_of(const MapRecord& map) {
  MappedFileInfo info;
  info.path = map.path;
  std::string key(map.path);
  if (is_anonymous(map.path)) {
    info.kind = Kind::kJit;
    info.pid = map.pid;
    info.path = fmt::format("/tmp/perf-{}.map", map.pid);
    key = info.path;
  } else if (map.path == "[vdso]") {
    info.kind = Kind::kVdso;
  } else if (map.path.starts_with('/')) {
    info.kind = Kind::kFile;
    const Bytes identity = map.build_id.empty() ? map.inode : map.build_id;
    key.push_back('\0');
    key.append(reinterpret_cast<const char*>(identity.data()), identity.size());
  }
  info.build_id.assign(map.build_id.begin(), map.build_id.end());
  if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
  // More than anybody maps share the last one's number, without a name.
  const bool is_full = infos_.size() >= kMostFiles || key_bytes_ >= kMostBytes;
  if (is_full) {
    info = {};
    key.clear();
    if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
  }
  const auto number = static_cast<std::uint32_t>(infos_.size());
  key_bytes_ += key.size();
  numbers_.emplace(std::move(key), number);
  infos_.push_back(std::move(info));
  return number;
}

std::vector<std::byte> UserImages::build_id_of(const MappedFileInfo& info) const {
  if (!info.build_id.empty()) return info.build_id;
  const auto known = features_.build_ids.find(info.path);
  return known == features_.build_ids.end() ? std::vector<std::byte>() : known->second;
}

Result<void> UserImages::record(MappedFileInfo& info) {
  recording::ImageInfo image;
  image.name = info.path.substr(info.path.rfind('/') + 1);
  image.arch = features_.arch;
  image.build_id = build_id_of(info);
  if (info.kind == Kind::kFile) {
    info.file = files_.program(info.path, image.build_id);
    image.path = info.path;
  } else if (info.kind == Kind::kVdso) {
    info.file = files_.vdso(image.build_id);
  } else if (info.kind == Kind::kJit) {
    image.name = fmt::format("[JIT] tid {}", info.pid);
  }
  if (info.file) {
    if (info.file->is_on_disk()) image.path = info.file->name();
    const Bytes build_id = info.file->build_id();
    image.build_id.assign(build_id.begin(), build_id.end());
    if (build_id.empty()) image.code_hash = elf::code_hash(*info.file);
    image.arch = info.file->arch();
    image.size = elf::code_size(*info.file);
  }
  RINGSIDE_ASSIGN(info.image, writer_->add_image(image));
  if (info.kind == Kind::kJit && files_.is_same_machine()) {
    symbols::SymbolTable names = read_perf_map(info.path);
    if (!names.empty()) jits_[info.image].names = std::move(names);
  }
  if (!info.file) return {};
  const bool on_disk = info.kind == Kind::kFile;
  if (!on_disk || image.build_id.empty())
    RINGSIDE_TRY(writer_->add_blob({on_disk ? recording::kKeptSymbolsBlob : recording::kSymbolsBlob,
                                    info.image, symbols::pack_symbols(*info.file)}));
  return {};
}

Result<UserImages::Place> UserImages::place_of(const UserSpace::Range& range) {
  MappedFileInfo& info = infos_[range.file];
  if (info.image == 0) RINGSIDE_TRY(record(info));
  Place place{info.image, range.start - range.file_offset, info.file};
  if (info.file) {
    const auto distance = distance_in(*info.file, range.file_offset, range.end - range.start);
    place.load_bias += distance.value_or(0);
  } else if (info.kind != Kind::kFile || range.start < kLowestLoaded) {
    place.load_bias = 0;
  }
  return place;
}

Result<void> UserImages::note(std::uint32_t image, std::uint64_t address) {
  if (jits_.empty()) return {};
  const auto jit = jits_.find(image);
  if (jit == jits_.end()) return {};
  const auto symbol = jit->second.names.find(ImageAddr{address});
  if (!symbol || !jit->second.recorded.insert(symbol->start.value).second) return {};
  recording::ImageFunction function;
  function.image = image;
  function.address = symbol->start;
  function.size = symbol->size;
  function.name = symbol->raw;
  return writer_->add_function(function);
}

}  // namespace ringside::importers::perf_data
