#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "elf/elf_file.h"
#include "symbols/symbol_file.h"

namespace ringside::session {

// The functions of a stripped program or library that no symbol names, as call-frame information
// bounds them, and on x86 calls to them: "dd+0x3280", by the image's name and where they begin;
// "_start" where the program is entered, also where no call-frame information bounds that. So that
// what one function does stands together, though nobody knows what it is called.
[[nodiscard]] std::vector<symbols::PackedFunction> synthesized_symbols(
    std::shared_ptr<const elf::ElfFile> file, std::string_view image_name);

}  // namespace ringside::session
