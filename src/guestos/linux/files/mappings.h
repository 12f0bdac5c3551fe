#pragma once

#include <string>
#include <vector>

#include "guestos/linux/types/kernel_reader.h"
#include "guestos/linux/types/linux_types.h"

namespace ringside::guestos {

// A mapping of a process, struct vm_area_struct: a line of its /proc/PID/maps.
struct LinuxMapping {
  // VM_READ … VM_SHARED, include/linux/mm.h.
  enum Flag : std::uint64_t { kRead = 1, kWrite = 2, kExecute = 4, kShared = 8 };

  GuestVirt start;
  GuestVirt end;  // behind the last byte
  std::uint64_t flags = 0;
  GuestVirt file;     // its struct file; 0: none
  FileOffset offset;  // of `start` in that file
  std::string name;   // of code that the kernel maps into every process: "[vdso]"; else empty

  [[nodiscard]] bool executable() const { return (flags & kExecute) != 0; }
};

// The mappings of the struct mm_struct at `mm`, by address: from the list that kernels have before
// 6.1, or the maple tree. The guest may run meanwhile: error kDisturbed where what was read does
// not fit together, kUnreadable where it is gone; a later try may succeed. At most a million
// mappings; other errors are those of `memory`.
[[nodiscard]] Result<std::vector<LinuxMapping>> read_mappings(const LinuxTypes& types,
                                                              const KernelReader& read,
                                                              GuestVirt mm);

}  // namespace ringside::guestos
