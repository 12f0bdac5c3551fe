#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "arch/registers.h"
#include "base/memory_reader.h"
#include "elf/image_map.h"
#include "guestos/user_interrupts/idt.h"
#include "guestos/user_interrupts/kernel_entry.h"

namespace ringside::guestos {

// Finds where hardware enters a kernel, and which of these places only an interrupt enters from
// user code.
class KernelEntryFinder {
 public:
  // Empty where that is not determined. `registers` reads those of a vCPU, where the kernel's
  // memory alone does not say it; an error of it means that they are not determined now. `kernel`
  // has the same file each time. Errors: those of `memory`.
  [[nodiscard]] Result<std::vector<KernelEntry>> find(
      const elf::Image& kernel, VirtualMemory& memory,
      const std::function<Result<arch::Registers>()>& registers);

 private:
  std::optional<std::vector<IdtObject>> idts_;  // once they were looked for
};

}  // namespace ringside::guestos
