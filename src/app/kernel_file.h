#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "elf/elf_file.h"

namespace ringside::app {

// A kernel's file of any kind (symbols::open_kernel), by its absolute path; `symbols` is a text
// with its symbols, or empty.
[[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> open_kernel(const std::string& path,
                                                                      const std::string& symbols);
// A kernel of which only such a text is there: names, and where its functions are.
[[nodiscard]] Result<std::shared_ptr<const elf::ElfFile>> open_listed_kernel(
    const std::string& symbols);
// Error kMismatch if a machine of that architecture cannot run the kernel.
[[nodiscard]] Result<void> check_kernel(const elf::ElfFile& kernel, Arch machine);

}  // namespace ringside::app
