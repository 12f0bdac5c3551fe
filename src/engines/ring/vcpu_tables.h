#pragma once

#include <memory>
#include <vector>

#include "arch/registers.h"
#include "base/memory_reader.h"
#include "memory/page_walk.h"

namespace ringside::engines::ring {

// Page tables, and registers with which a vCPU uses them.
struct VcpuTables {
  std::unique_ptr<memory::PageTables> tables;
  arch::Registers registers;
};

// The page tables that a vCPU may use; none where addresses are not translated, or that is not
// known.
using TablesOfVcpu = std::vector<VcpuTables>;

// Those of its registers. A vCPU that runs user code may use tables that do not map the kernel: on
// x86 the kernel's are then often a page in front of them (Linux' page-table isolation), and
// follow. The caller checks by what they map whether they are the right ones.
[[nodiscard]] TablesOfVcpu tables_of_vcpu(Arch arch, const arch::Registers& registers);

// The first of them that map `address` to `place`; null: none does. Errors: those of the memory.
[[nodiscard]] Result<const VcpuTables*> tables_that_map(GuestVirt address, GuestPhys place,
                                                        const TablesOfVcpu& tables,
                                                        PhysicalMemory& physical);

}  // namespace ringside::engines::ring
