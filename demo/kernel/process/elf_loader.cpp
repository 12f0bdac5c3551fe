#include "process/elf_loader.h"

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
};
struct ProgramHeader {
  u32 type, flags;
  u64 offset, address, physical, file_size, memory_size, alignment;
};
constexpr u32 kLoad = 1;
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

}  // namespace

u64 load_elf(const Program& program, AddressSpace& space) {
  const auto& header = *reinterpret_cast<const ElfHeader*>(program.begin);
  if (*reinterpret_cast<const u32*>(header.ident) != 0x464c457f || header.type != kExecutable ||
      header.machine != kX86_64) {
    panic("%s is not a static x86_64 program", program.name);
  }
  for (u32 i = 0; i < header.program_header_count; ++i) {
    const auto& segment = *reinterpret_cast<const ProgramHeader*>(
        program.begin + header.program_headers + i * sizeof(ProgramHeader));
    if (segment.type == kLoad) load_segment(program, segment, space);
  }
  return header.entry;
}
