#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "elf/elf_file.h"

namespace ringside::symbols {

// A kernel file of any kind: an ELF file with symbols as it is; anything else that has kallsyms (a
// boot image, a stripped vmlinux) by make_elf(). An ELF file with neither as it is, too. Unpacking
// and decoding a distribution's kernel takes 0.3 s (with xz 1.2 s); KernelCache keeps the result.
[[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> open_kernel(
    const std::filesystem::path& path);
// The same, by the symbols in the text file `symbols` (System.map, /proc/kallsyms, nm) instead of
// the image's own kallsyms, which may lack data, or be missing. kUsage for an ELF file that has
// symbols, kMismatch where the text is another kernel's.
[[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> open_kernel(
    const std::filesystem::path& path, const std::filesystem::path& symbols);

}  // namespace ringside::symbols
