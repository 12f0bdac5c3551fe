#pragma once

#include <memory>

#include "base/memory_reader.h"
#include "engines/engine.h"
#include "session/paged_space.h"

namespace ringside::session {

// The kernel's virtual memory as a vCPU saw it at a capture in kernel mode, read while the guest
// runs. Where the engine reads physical memory the kernel's own page tables are walked, whatever
// the vCPU does meanwhile (kernel_tables.h). Otherwise it may be in user mode at the time of a
// read, without the kernel in its address space; what the engine does not make good is tried again
// twice.
class KernelMemory final : public VirtualMemory {
 public:
  KernelMemory(engines::Engine& engine, const wire::Capture& capture);

  [[nodiscard]] Result<std::size_t> read_up_to(GuestVirt address,
                                               std::span<std::byte> destination) override;

 private:
  engines::Engine* engine_;
  VcpuId vcpu_;
  std::unique_ptr<PagedSpace> by_tables_;  // null: the engine reads by what the vCPU is in
};

}  // namespace ringside::session
