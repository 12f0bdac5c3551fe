#include "elf/elf_file.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>

#include "arch/arch_info.h"
#include "elf/read_later.h"

namespace ringside::elf {
namespace {

constexpr std::size_t kMaxSections = 65536;  // -ffunction-sections objects stay far below

}  // namespace

Result<std::shared_ptr<const ElfFile>> ElfFile::open(const std::filesystem::path& path) {
  std::unique_ptr<ElfFile> file(new ElfFile);
  file->name_ = path.string();
  RINGSIDE_ASSIGN(file->mapped_, MappedFile::open(path));
  file->is_on_disk_ = true;
  file->bytes_ = file->mapped_->bytes();
  return parse(std::move(file));
}

Result<std::shared_ptr<const ElfFile>> ElfFile::from_copy(std::shared_ptr<const MappedFile> copy,
                                                          std::size_t size, std::string name) {
  std::unique_ptr<ElfFile> file(new ElfFile);
  file->name_ = std::move(name);
  file->mapped_ = std::move(copy);
  file->bytes_ = file->mapped_->bytes().first(size);
  return parse(std::move(file));
}

Result<std::shared_ptr<const ElfFile>> ElfFile::from_bytes(std::vector<std::byte> bytes,
                                                           std::string name) {
  std::unique_ptr<ElfFile> file(new ElfFile);
  file->name_ = std::move(name);
  file->owned_ = std::move(bytes);
  file->bytes_ = file->owned_;
  return parse(std::move(file));
}

ElfFile::ElfFile() : read_later_(std::make_unique<ReadLater>()) {}

ElfFile::~ElfFile() {
  if (elf_ != nullptr) elf_end(elf_);
}

Result<std::shared_ptr<const ElfFile>> ElfFile::parse(std::unique_ptr<ElfFile> file) {
  RINGSIDE_TRY(file->read_headers());
  RINGSIDE_TRY(file->read_sections());
  RINGSIDE_TRY(file->read_segments());
  file->read_notes();
  return std::shared_ptr<const ElfFile>(std::move(file));
}

Result<void> ElfFile::read_headers() {
  if (bytes_.size() < EI_NIDENT || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0)
    return fail(ErrorCode::kFormat, "{} is not an ELF file: no ELF magic at offset 0", name_);
  const auto ident = [this](std::size_t i) { return std::to_integer<unsigned>(bytes_[i]); };
  if (ident(EI_CLASS) != ELFCLASS32 && ident(EI_CLASS) != ELFCLASS64)
    return fail(ErrorCode::kFormat, "{}: unknown ELF class {} at offset {:#x}", name_,
                ident(EI_CLASS), +EI_CLASS);
  is_64_ = ident(EI_CLASS) == ELFCLASS64;
  if (ident(EI_DATA) != ELFDATA2LSB)
    return fail(ErrorCode::kUnsupported,
                "{} is big endian (byte order {} at offset {:#x}); ringside reads little endian",
                name_, ident(EI_DATA), +EI_DATA);
  const std::size_t header_size = is_64_ ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  if (bytes_.size() < header_size)
    return fail(ErrorCode::kTruncated,
                "{} is truncated: its ELF header ends at {:#x}, the file at {:#x}", name_,
                header_size, bytes_.size());

  elf_version(EV_CURRENT);
  // libelf does not write to memory that it was given for reading.
  auto* memory = reinterpret_cast<char*>(const_cast<std::byte*>(bytes_.data()));
  elf_ = elf_memory(memory, bytes_.size());
  GElf_Ehdr header;
  if (elf_ == nullptr || gelf_getehdr(elf_, &header) == nullptr)
    return fail(ErrorCode::kFormat, "{}: damaged ELF header at offset 0: {}", name_,
                elf_errmsg(-1));
  type_ = header.e_type;
  entry_ = {header.e_entry};
  arch_ = arch::arch_of_elf(header.e_machine, is_64_);

  const auto check_table = [&](const char* what, std::uint64_t offset, std::uint64_t entry_size,
                               std::uint64_t count) -> Result<void> {
    if (count == 0 || (offset <= bytes_.size() && entry_size * count <= bytes_.size() - offset))
      return {};
    return fail(ErrorCode::kTruncated,
                "{} is truncated: {} at offset {:#x} would end at {:#x}, the file ends at {:#x}",
                name_, what, offset, offset + entry_size * count, bytes_.size());
  };
  RINGSIDE_TRY(
      check_table("the program header table", header.e_phoff, header.e_phentsize, header.e_phnum));
  RINGSIDE_TRY(check_table("the section header table", header.e_shoff, header.e_shentsize,
                           header.e_shoff == 0 ? 0 : header.e_shnum));
  return {};
}

Result<void> ElfFile::read_segments() {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0) return {};
  // A file with nothing but debug information keeps the program headers of the file that it was
  // taken from (eu-strip -f), or most of them (objcopy --only-keep-debug), without their bytes.
  const auto has_code = [this](bool with_bytes) {
    return std::any_of(sections_.begin(), sections_.end(), [&](const SectionHeader& section) {
      return (section.flags & SHF_EXECINSTR) != 0 && (section.type != SHT_NOBITS) == with_bytes;
    });
  };
  const bool has_bytes = has_code(true) || !has_code(false);
  for (std::size_t i = 0; i < count && i < kMaxSections; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr)
      return fail(ErrorCode::kFormat, "{}: program header {} is damaged: {}", name_, i,
                  elf_errmsg(-1));
    if (header.p_type != PT_LOAD || header.p_memsz == 0) continue;
    if (!has_bytes) header.p_filesz = 0;
    if (header.p_filesz != 0 &&
        (header.p_offset > bytes_.size() || header.p_filesz > bytes_.size() - header.p_offset))
      return fail(
          ErrorCode::kTruncated,
          "{} is truncated: segment {} at offset {:#x} has {:#x} bytes, the file ends at {:#x}",
          name_, i, header.p_offset, header.p_filesz, bytes_.size());
    segments_.push_back({.address = {header.p_vaddr},
                         .memory_size = header.p_memsz,
                         .offset = {header.p_offset},
                         .file_size = std::min(header.p_filesz, header.p_memsz),
                         .executable = (header.p_flags & PF_X) != 0,
                         .writable = (header.p_flags & PF_W) != 0});
  }
  return {};
}

Result<void> ElfFile::read_sections() {
  std::size_t count = 0;
  std::size_t names = 0;
  if (elf_getshdrnum(elf_, &count) != 0 || count == 0) return {};
  if (elf_getshdrstrndx(elf_, &names) != 0) names = 0;
  count = std::min(count, kMaxSections);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Shdr header;
    Elf_Scn* section = elf_getscn(elf_, i);
    if (section == nullptr || gelf_getshdr(section, &header) == nullptr)
      return fail(ErrorCode::kFormat, "{}: section header {} is damaged: {}", name_, i,
                  elf_errmsg(-1));
    const char* name = names == 0 ? nullptr : elf_strptr(elf_, names, header.sh_name);
    if (i != 0 && header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL &&
        (header.sh_offset > bytes_.size() || header.sh_size > bytes_.size() - header.sh_offset))
      return fail(
          ErrorCode::kTruncated,
          "{} is truncated: section {} ({}) at offset {:#x} has {:#x} bytes, the file ends at "
          "{:#x}",
          name_, i, name == nullptr ? "?" : name, header.sh_offset, header.sh_size, bytes_.size());
    sections_.push_back({.name = name == nullptr ? std::string_view() : std::string_view(name),
                         .type = header.sh_type,
                         .flags = header.sh_flags,
                         .address = header.sh_addr,
                         .offset = header.sh_offset,
                         .size = header.sh_size,
                         .link = header.sh_link});
  }
  return {};
}

Bytes ElfFile::slice(std::uint64_t offset, std::uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) return {};
  return bytes_.subspan(offset, size);
}

bool ElfFile::is_compressed(const SectionHeader& section) {
  return (section.flags & SHF_COMPRESSED) != 0 || section.name.starts_with(".zdebug_");
}

Bytes ElfFile::contents_of(const SectionHeader& section) const {
  if (!is_compressed(section)) return slice(section.offset, section.size);
  return decompressed(static_cast<std::size_t>(&section - sections_.data()));
}

std::optional<Section> ElfFile::section(std::string_view name) const {
  const auto matches = [&](std::string_view candidate) {
    return candidate == name || (name.starts_with(".debug_") && candidate.starts_with(".zdebug_") &&
                                 candidate.substr(2) == name.substr(1));
  };
  for (std::size_t i = 1; i < sections_.size(); ++i) {
    const SectionHeader& header = sections_[i];
    if (!matches(header.name)) continue;
    Section result{.name = header.name,
                   .type = header.type,
                   .flags = header.flags,
                   .address = {header.address},
                   .size = header.size,
                   .bytes = {}};
    if (header.type == SHT_NOBITS) return result;
    result.bytes = contents_of(header);
    if (is_compressed(header)) {
      if (result.bytes.empty()) return std::nullopt;
      result.size = result.bytes.size();
    }
    return result;
  }
  return std::nullopt;
}

Bytes ElfFile::bytes_at(ImageAddr address, std::size_t size) const {
  for (const Segment& segment : segments_) {
    const std::uint64_t offset = address - segment.address;
    if (offset >= segment.file_size) continue;
    return slice(segment.offset.value + offset,
                 std::min<std::uint64_t>(size, segment.file_size - offset));
  }
  return {};
}

bool ElfFile::is_code(ImageAddr address) const {
  for (const Segment& segment : segments_)
    if (segment.executable && segment.contains(address)) return true;
  return false;
}

std::vector<CodeRange> ElfFile::code() const {
  std::vector<CodeRange> ranges;
  for (const SectionHeader& section : sections_) {
    if ((section.flags & SHF_EXECINSTR) == 0 || (section.flags & SHF_ALLOC) == 0) continue;
    const Bytes bytes = bytes_at({section.address}, section.size);
    if (!bytes.empty()) ranges.push_back({{section.address}, bytes});
  }
  if (!ranges.empty()) return ranges;
  for (const Segment& segment : segments_) {
    if (!segment.executable) continue;
    const Bytes bytes = bytes_at(segment.address, segment.file_size);
    if (!bytes.empty()) ranges.push_back({segment.address, bytes});
  }
  return ranges;
}

bool ElfFile::may_hold_code(ImageAddr address) const {
  bool has_sections = false;
  for (const SectionHeader& section : sections_) {
    if ((section.flags & SHF_EXECINSTR) == 0 || (section.flags & SHF_ALLOC) == 0) continue;
    if (address.value - section.address < section.size) return true;
    has_sections = true;
  }
  return !has_sections && (segments_.empty() || is_code(address));
}

std::optional<std::uint64_t> load_bias_by(const ElfFile& kernel, std::string_view symbol,
                                          GuestVirt address) {
  if (symbol.empty() || address == GuestVirt{}) return std::nullopt;
  const auto found = kernel.symbol_named(symbol);
  return found ? std::optional(address.value - found->address.value) : std::nullopt;
}

}  // namespace ringside::elf
