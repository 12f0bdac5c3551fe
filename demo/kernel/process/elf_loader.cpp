#include "process/elf_loader.h"

#include "core/command_line.h"
#include "core/layout.h"
#include "core/memory.h"
#include "core/panic.h"

namespace {

// System V ABI, "ELF Header" and "Program Header", 64-bit forms.
struct ElfHeader {
  u8 ident[16];
  u16 type, machine;
  u32 version;
  u64 entry, program_headers, section_headers;
  u32 flags;
  u16 header_size, program_header_size, program_header_count;
  u16 section_header_size, section_header_count, section_names;
};
struct ProgramHeader {
  u32 type, flags;
  u64 offset, address, physical, file_size, memory_size, alignment;
};
struct SectionHeader {
  u32 name, type;
  u64 flags, address, offset, size;
  u32 link, info;
  u64 alignment, entry_size;
};
constexpr u32 kLoad = 1, kProgramHeaders = 6;
constexpr u16 kExecutable = 2, kX86_64 = 62;

void load_segment(const Program& program, const ProgramHeader& segment, AddressSpace& space) {
  if (segment.offset + segment.file_size > static_cast<u64>(program.end - program.begin)) {
    panic("%s is truncated", program.name);
  }
  const u64 end = segment.address + segment.memory_size;
  for (u64 at = segment.address; at < end;) {
    const u64 in_page = at % kPageSize;
    u64 size = kPageSize - in_page;
    if (size > end - at) size = end - at;
    auto* page = static_cast<u8*>(space.add_page(at - in_page));
    const u64 done = at - segment.address;
    if (done < segment.file_size) {
      const u64 rest = segment.file_size - done;
      memcpy(page + in_page, program.begin + segment.offset + done, rest < size ? rest : size);
    }
    at += size;
  }
}

// The first section of that name; an empty one if there is none.
SectionHeader find_section(const Program& program, const ElfHeader& header, const char* name) {
  const auto* sections =
      reinterpret_cast<const SectionHeader*>(program.begin + header.section_headers);
  const auto* names =
      reinterpret_cast<const char*>(program.begin + sections[header.section_names].offset);
  for (u32 i = 0; i < header.section_header_count; ++i) {
    if (same_text(names + sections[i].name, name)) return sections[i];
  }
  return {};
}

void describe(const Program& program, const ElfHeader& header, ProcessMetadata& metadata) {
  const SectionHeader text = find_section(program, header, ".text");
  const SectionHeader eh_frame = find_section(program, header, ".eh_frame");
  metadata.text_address = text.address;
  metadata.text_size = text.size;
  metadata.eh_frame_address = eh_frame.address;
  metadata.eh_frame_size = eh_frame.size;
}

}  // namespace

u64 load_elf(const Program& program, AddressSpace& space, ProcessMetadata& metadata) {
  const auto& header = *reinterpret_cast<const ElfHeader*>(program.begin);
  if (*reinterpret_cast<const u32*>(header.ident) != 0x464c457f || header.type != kExecutable ||
      header.machine != kX86_64) {
    panic("%s is not a static x86_64 program", program.name);
  }
  u64 base = ~0ull, end = 0, program_headers = 0;
  for (u32 i = 0; i < header.program_header_count; ++i) {
    const auto& segment = *reinterpret_cast<const ProgramHeader*>(
        program.begin + header.program_headers + i * sizeof(ProgramHeader));
    if (segment.type == kProgramHeaders) program_headers = segment.address;
    if (segment.type != kLoad || segment.memory_size == 0) continue;
    load_segment(program, segment, space);
    if (segment.address < base) base = segment.address;
    if (segment.address + segment.memory_size > end) end = segment.address + segment.memory_size;
  }
  metadata.image_base = base;
  metadata.image_size = end - base;
  metadata.program_headers_offset = program_headers - base;
  describe(program, header, metadata);
  return header.entry;
}
