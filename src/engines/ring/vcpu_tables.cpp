#include "engines/ring/vcpu_tables.h"

#include <utility>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "memory/page_tables.h"

namespace ringside::engines::ring {

TablesOfVcpu tables_of_vcpu(Arch arch, const arch::Registers& registers) {
  constexpr std::uint64_t kUserTable = 0x1000;  // PTI_USER_PGTABLE_BIT in Linux
  TablesOfVcpu all;
  auto own = memory::page_tables_of(arch, registers);
  if (!own) return all;
  all.push_back({std::move(own), registers});
  const auto root = arch::user_root(arch, registers);
  if (!arch::info_of(arch).is_x86 || !root || (*root & kUserTable) == 0) return all;
  const auto before = arch::with_user_root(arch, registers, GuestPhys{*root - kUserTable});
  if (auto kernels = memory::page_tables_of(arch, before))
    all.push_back({std::move(kernels), before});
  return all;
}

Result<const VcpuTables*> tables_that_map(GuestVirt address, GuestPhys place,
                                          const TablesOfVcpu& tables, PhysicalMemory& physical) {
  for (const VcpuTables& one : tables) {
    RINGSIDE_ASSIGN(const auto walk, one.tables->walk(physical, address));
    if (walk.end == memory::WalkEnd::kMapped && walk.address == place) return &one;
  }
  return nullptr;
}

}  // namespace ringside::engines::ring
