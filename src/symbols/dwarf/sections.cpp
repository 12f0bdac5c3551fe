#include "symbols/dwarf/sections.h"

#include <string>

namespace ringside::symbols::dwarf {

Sections read_sections(const elf::ElfFile& file, std::string_view suffix) {
  const auto bytes = [&](std::string_view name) -> Bytes {
    const auto section = file.section(std::string(name) + std::string(suffix));
    return section ? section->bytes : Bytes{};
  };
  Sections sections;
  sections.info = bytes(".debug_info");
  if (sections.info.empty()) return sections;
  sections.abbrev = bytes(".debug_abbrev");
  sections.str = bytes(".debug_str");
  sections.line_str = bytes(".debug_line_str");
  sections.str_offsets = bytes(".debug_str_offsets");
  sections.addr = bytes(".debug_addr");
  sections.ranges = bytes(".debug_ranges");
  sections.rnglists = bytes(".debug_rnglists");
  sections.line = bytes(".debug_line");
  sections.aranges = bytes(".debug_aranges");
  if (suffix.empty()) sections.program = &file;
  return sections;
}

}  // namespace ringside::symbols::dwarf
