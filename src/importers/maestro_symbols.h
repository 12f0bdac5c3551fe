#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/types.h"
#include "elf/elf_file.h"

namespace ringside::importers {

// Names as Maestro's own profiler finds them (maestro-os/kern-profile @ 32f201e4), for
// ImportOptions::maestro_name: of all entries of the kernel's symbol table, of data too, sorted by
// address and size, the last one that begins at or below the address; no name where the address
// lies behind its end. So a label without a size hides the rest of the function that it is in, and
// return addresses are looked up as they are. That is what its binary search does with
// Rust's library since 1.83. Where several symbols have one place and size, it takes any of them,
// and this the last of the table.
//
// Names are demangled as by rustc-demangle's "{:#}": Rust's, without their hashes.
[[nodiscard]] std::function<std::optional<std::string>(GuestVirt)> maestro_names(
    std::shared_ptr<const elf::ElfFile> file, std::uint64_t load_bias);

}  // namespace ringside::importers
