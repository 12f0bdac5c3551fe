#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "elf/elf_file.h"
#include "engines/ring/redox_rings.h"

namespace ringside::app {

// Where a kernel has Redox' rings: `where` is the slice's address (0x…) or its symbol, mangled or
// not; members are where the kernel's debug information has them. So is the map of contexts' names,
// if the kernel has one. Errors: kUsage, kNotFound.
[[nodiscard]] Result<engines::ring::RedoxLayout> redox_layout(
    const std::string& where, const std::shared_ptr<const elf::ElfFile>& kernel,
    std::uint64_t load_bias);

}  // namespace ringside::app
