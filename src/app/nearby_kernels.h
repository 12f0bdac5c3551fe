#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "elf/elf_file.h"

namespace ringside::app {

// ELF files in a folder and below that may be a kernel for a machine: executables without an
// interpreter.
struct NearbyKernels {
  // Those with debug information first, then those with symbols; of two alike the newer. At
  // most 32.
  std::vector<std::shared_ptr<const elf::ElfFile>> files;
  std::string caveat;  // one sentence if the folder was too large to look at all of it
};

// Looks at 20,000 files at most, six folders deep, for one second at most; not in hidden folders,
// and not through symbolic links. Unreadable folders and files are left out.
[[nodiscard]] NearbyKernels find_nearby_kernels(const std::filesystem::path& folder, Arch machine);

// The kernels that a boot loader, the file `loader`, may load: the ELF files that -initrd names
// (Multiboot modules: "FILE ARGUMENTS,FILE"), then those of its folder and of the working folder,
// as above.
[[nodiscard]] std::vector<std::shared_ptr<const elf::ElfFile>> find_loaded_kernels(
    const std::filesystem::path& loader, const std::string& initrd,
    const std::filesystem::path& working_folder, Arch machine);

}  // namespace ringside::app
