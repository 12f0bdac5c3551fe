#include "app/kernel_file.h"

#include <filesystem>

#include "arch/arch_info.h"
#include "symbols/linux_image/open_kernel.h"
#include "symbols/nm/kernel_symbols.h"
#include "symbols/nm/listed_image.h"

namespace ringside::app {

Result<std::shared_ptr<const elf::ElfFile>> open_kernel(const std::string& path,
                                                        const std::string& symbols) {
  // The recording may be read from another folder.
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  return symbols.empty() ? symbols::open_kernel(absolute) : symbols::open_kernel(absolute, symbols);
}

Result<std::shared_ptr<const elf::ElfFile>> open_listed_kernel(const std::string& symbols) {
  RINGSIDE_ASSIGN(auto list, symbols::read_kernel_symbols(symbols));
  return symbols::elf_of_symbols(std::move(list), Arch::kUnknown, symbols);
}

Result<void> check_kernel(const elf::ElfFile& kernel, Arch machine) {
  const Arch arch = kernel.arch();
  if (machine != Arch::kUnknown && !arch::info_of(machine).boots(arch))
    return fail(ErrorCode::kMismatch,
                "{} is for {}, and the guest is {}; give the right file with --kernel",
                kernel.name(), arch::name_of(arch), arch::name_of(machine));
  return {};
}

}  // namespace ringside::app
