#pragma once

#include "base/byte_reader.h"
#include "elf/elf_file.h"

namespace ringside::symbols::dwarf {

// Whether what lies at `low` may be code that a linker removed. GNU ld and gold leave its debug
// information behind, at address 0 or 1, where a program that is linked there has code of its own.
[[nodiscard]] constexpr bool may_be_removed(std::uint64_t low) { return low <= 1; }

// The bytes of the sections that names, inlined calls and lines are read from; empty where a file
// has no such section. For a unit of a .dwp file, only its own contributions.
struct Sections {
  Bytes info;
  Bytes abbrev;
  Bytes str;
  Bytes line_str;
  Bytes str_offsets;
  Bytes addr;
  Bytes ranges;
  Bytes rnglists;
  Bytes line;
  Bytes aranges;
  // The file whose code is described; null where it is not at hand. It outlives the sections.
  const elf::ElfFile* program = nullptr;

  // Whether what lies at `low` is certainly code that a linker removed.
  [[nodiscard]] bool is_removed(std::uint64_t low) const {
    return may_be_removed(low) && program != nullptr && !program->may_hold_code({low});
  }
};

// `suffix` is "" or ".dwo". Sections that are stored compressed are decompressed, and then cost as
// much private memory as they have bytes.
[[nodiscard]] Sections read_sections(const elf::ElfFile& file, std::string_view suffix = "");

}  // namespace ringside::symbols::dwarf
