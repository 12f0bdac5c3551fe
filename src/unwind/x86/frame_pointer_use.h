#pragma once

#include <span>

#include "elf/elf_file.h"

namespace ringside::unwind::x86 {

// Whether a file's functions set up frame pointers: only then does a frame pointer of zero say
// that there is no caller. Looks at the first bytes of 64 functions at most, spread over the file.
[[nodiscard]] bool keeps_frame_pointers(const elf::ElfFile& file);
// The same of a file without symbols, by where its functions begin.
[[nodiscard]] bool keeps_frame_pointers(const elf::ElfFile& file,
                                        std::span<const ImageAddr> functions);

}  // namespace ringside::unwind::x86
