#pragma once

#include "base/byte_reader.h"
#include "elf/elf_file.h"

namespace ringside::symbols::dwarf {

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
};

// `suffix` is "" or ".dwo". Sections that are stored compressed are decompressed, and then cost as
// much private memory as they have bytes.
[[nodiscard]] Sections read_sections(const elf::ElfFile& file, std::string_view suffix = "");

}  // namespace ringside::symbols::dwarf
