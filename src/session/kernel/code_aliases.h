#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/memory_reader.h"
#include "elf/image_map.h"

namespace ringside::session {

// The kernel's code at another address than its own: mapped a second time, as identity mappings and
// trampolines are, or copied, as the code is that wakes secondary CPUs. It is known by its bytes.
class CodeAliases {
 public:
  // Whether to look: code of no known image runs at `pc` in kernel mode. False where that was done
  // often enough: a look searches all of the kernel's file.
  [[nodiscard]] bool wants(const elf::Image& kernel, GuestVirt pc);
  // The image of what runs at `pc`: the kernel's file, where all of it is there, or as much as is
  // equal around `pc`, with the functions of the kernel's file. Nothing where it is no code of the
  // kernel's, or several places of the kernel have the same bytes. Reads 132 KiB at most. Errors:
  // those of `memory`.
  [[nodiscard]] static Result<std::optional<elf::Image>> poll(const elf::Image& kernel,
                                                              GuestVirt pc, VirtualMemory& memory);

 private:
  std::map<std::uint64_t, unsigned> probes_;  // by page
  unsigned all_probes_ = 0;
  std::uint64_t searched_ = 0;  // bytes of the kernel's file
};

}  // namespace ringside::session
