#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/elf_file.h"

namespace ringside::kernel_image {

// An ELF file, or the one in a boot image (bzImage, gzip of a vmlinux, see boot_image.h), which is
// unpacked: 50 MB take about 0.1 s. Errors name the file and the offset, and say what to do about a
// kernel without ELF headers. symbols::open_kernel() makes an ELF file of such a kernel, too.
[[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> open_elf(
    const std::filesystem::path& path);
// The same of its bytes.
[[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> elf_from_bytes(
    std::vector<std::byte> bytes, const std::string& name);

}  // namespace ringside::kernel_image
