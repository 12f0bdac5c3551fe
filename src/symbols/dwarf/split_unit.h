#pragma once

#include <memory>

#include "elf/elf_file.h"
#include "symbols/dwarf/unit.h"

namespace ringside::symbols::dwarf {

// The unit that `skeleton` stands for, from a .dwo file or from a .dwp file, where the index of
// DWARF 5, section 7.3.5 or GNU's of DWARF 4 finds it by the skeleton's id. Null where the file has
// no unit of that id. The unit's bytes are the file's and the skeleton's.
[[nodiscard]] std::shared_ptr<const Unit> read_split_unit(const elf::ElfFile& file,
                                                          const Unit& skeleton);

}  // namespace ringside::symbols::dwarf
