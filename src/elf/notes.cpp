#include <gelf.h>

#include "base/text.h"
#include "elf/elf_file.h"

// Notes: gABI, "Note Section". The GNU build id has owner "GNU" and type 3.

namespace ringside::elf {

void ElfFile::read_notes() {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_, &count) == 0) {
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr) break;
      if (header.p_type == PT_NOTE)
        add_notes(slice(header.p_offset, header.p_filesz), header.p_align,
                  ImageAddr{header.p_vaddr});
    }
  }
  if (!notes_.empty()) return;
  for (const SectionHeader& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    const bool loaded = (section.flags & SHF_ALLOC) != 0;
    add_notes(slice(section.offset, section.size), 4,
              loaded ? std::optional(ImageAddr{section.address}) : std::nullopt);
  }
}

void ElfFile::add_notes(Bytes bytes, std::uint64_t alignment, std::optional<ImageAddr> address) {
  const std::uint64_t mask = alignment == 8 ? 7 : 3;
  ByteReader reader(bytes);
  while (!reader.empty()) {
    const auto owner_size = reader.read<std::uint32_t>();
    const auto size = reader.read<std::uint32_t>();
    const auto type = reader.read<std::uint32_t>();
    if (!owner_size || !size || !type) return;
    const auto owner = reader.read_bytes(*owner_size);
    if (!owner || !reader.skip(-reader.offset() & mask)) return;
    const std::size_t at = reader.offset();
    const auto description = reader.read_bytes(*size);
    if (!description) return;
    std::string_view name(reinterpret_cast<const char*>(owner->data()), owner->size());
    if (name.ends_with('\0')) name.remove_suffix(1);
    notes_.push_back(
        {name, *type, *description, address ? std::optional(*address + at) : std::nullopt});
    if (!reader.skip(-reader.offset() & mask)) return;
  }
}

Bytes ElfFile::build_id() const {
  for (const Note& note : notes_)
    if (note.owner == ELF_NOTE_GNU && note.type == NT_GNU_BUILD_ID) return note.description;
  return {};
}

std::string ElfFile::build_id_hex() const { return hex_text(build_id()); }

}  // namespace ringside::elf
