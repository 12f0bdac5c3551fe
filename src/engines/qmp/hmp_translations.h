#pragma once

#include <optional>
#include <vector>

#include "engines/qmp/monitor.h"
#include "memory/page_walk.h"

namespace ringside::engines::qmp {

// A vCPU's page tables as the monitor walks them, by `gva2gpa`: for a machine whose monitor does
// not print the registers that say where they are (aarch64). A request takes 0.1 ms or more: walks
// of pages that follow each other are asked for together, and are as of then.
class HmpTranslations final : public memory::PageTables {
 public:
  // `monitor` outlives it.
  HmpTranslations(Monitor& monitor, VcpuId vcpu) : monitor_(monitor), vcpu_(vcpu) {}

  // The page is taken for one of 4 KiB, the least that there is. Errors: those of the monitor.
  [[nodiscard]] Result<memory::PageWalk> walk(PhysicalMemory& physical,
                                              GuestVirt address) const override;

 private:
  [[nodiscard]] Result<void> ask(std::uint64_t first, std::size_t count) const;

  Monitor& monitor_;
  VcpuId vcpu_;
  mutable std::uint64_t first_ = 0;  // number of the first of the pages that were asked for
  mutable std::vector<std::optional<GuestPhys>> pages_;
};

}  // namespace ringside::engines::qmp
