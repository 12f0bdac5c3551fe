#include <cstddef>
#include <cstdint>

#include "symbols/dwarf/line_table.h"

// The whole input is .debug_line; its own bytes are the strings too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::symbols::dwarf;
  Unit unit;
  unit.sections.line = {reinterpret_cast<const std::byte*>(data), size};
  unit.sections.str = unit.sections.line_str = unit.sections.str_offsets = unit.sections.line;
  unit.comp_dir = "/src";
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{size / 2}}) {
    const auto table = LineTable::parse(unit, offset);
    if (!table) continue;
    for (std::uint64_t address = 0x401000; address < 0x401300; address += 3)
      if (const LineTable::Row* row = table->find(address, 0)) (void)table->file_name(row->file);
    for (const std::uint64_t file : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}})
      (void)table->file_name(file);
  }
  return 0;
}
