#pragma once

#include "engines/qmp/monitor.h"
#include "memory/page_walk.h"

namespace ringside::engines::qmp {

// A vCPU's page tables as the monitor walks them, by `gva2gpa`: for a machine whose monitor does
// not print the registers that say where they are (aarch64). Each walk is a request, of 0.1 ms or
// more.
class HmpTranslations final : public memory::PageTables {
 public:
  // `monitor` outlives it.
  HmpTranslations(Monitor& monitor, VcpuId vcpu) : monitor_(monitor), vcpu_(vcpu) {}

  // The page is taken for one of 4 KiB, the least that there is. Errors: those of the monitor.
  [[nodiscard]] Result<memory::PageWalk> walk(PhysicalMemory& physical,
                                              GuestVirt address) const override;

 private:
  Monitor& monitor_;
  VcpuId vcpu_;
};

}  // namespace ringside::engines::qmp
