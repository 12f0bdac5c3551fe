#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "elf/elf_file.h"

namespace ringside::symbols {

struct PackedFunction {
  ImageAddr address;
  std::uint64_t size = 0;
  std::string name;
};

// A small copy of a file that is good for names and nothing else: an ELF file with the same
// functions, segments without contents and the build id, compressed with zstd.
// kernel_image::elf_from_bytes reads it. The 46,545 functions of Debian's kernel take 0.55 MB.
[[nodiscard]] std::vector<std::byte> pack_symbols(const elf::ElfFile& file);
// The same with these functions instead of the file's.
[[nodiscard]] std::vector<std::byte> pack_functions(const elf::ElfFile& file,
                                                    std::span<const PackedFunction> functions);

// An ELF file of functions alone, not compressed, as elf::ElfFile::from_bytes() reads it.
[[nodiscard]] std::vector<std::byte> make_symbol_file(Arch arch, Bytes build_id,
                                                      std::span<const PackedFunction> functions);

}  // namespace ringside::symbols
