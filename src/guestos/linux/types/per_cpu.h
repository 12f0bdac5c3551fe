#pragma once

#include <optional>

#include "base/memory_reader.h"
#include "elf/image_map.h"

namespace ringside::guestos {

// A Linux kernel's per-CPU variables.
class PerCpu {
 public:
  // `kernel` must outlive it.
  explicit PerCpu(const elf::Image& kernel);

  // Where a CPU has its copy; nothing before its area was set up, as far as that can be determined:
  // early on the boot image's own copy is found. Errors: those of `memory`.
  [[nodiscard]] Result<std::optional<GuestVirt>> copy_of(ImageAddr variable, std::size_t cpu,
                                                         VirtualMemory& memory) const;
  // The pointer at an address; nothing where it is null or not mapped.
  [[nodiscard]] Result<std::optional<GuestVirt>> read_pointer(GuestVirt at,
                                                              VirtualMemory& memory) const;

 private:
  const elf::Image* kernel_;
  std::optional<elf::DataSymbol> offsets_;
};

}  // namespace ringside::guestos
