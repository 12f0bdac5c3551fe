#pragma once

#include <memory>

#include "elf/identity.h"
#include "engines/engine.h"
#include "memory/address_space.h"

namespace ringside::session {

// The kernel's virtual memory as a vCPU saw it at a capture in kernel mode, read while the guest
// runs. Where the engine reads physical memory the kernel's own page tables are walked, whatever
// the vCPU does meanwhile (kernel_tables.h). Otherwise it may be in user mode at the time of a
// read, without the kernel in its address space; what the engine does not make good is tried again
// twice.
class KernelMemory {
 public:
  KernelMemory(engines::Engine& engine, const wire::Capture& capture);

  [[nodiscard]] Result<std::size_t> read(GuestVirt address, std::span<std::byte> destination);
  // Valid as long as this object.
  [[nodiscard]] elf::GuestReader reader() {
    return [this](GuestVirt at, std::span<std::byte> into) { return read(at, into); };
  }

 private:
  engines::Engine* engine_;
  VcpuId vcpu_;
  std::unique_ptr<memory::PageTables> tables_;
  std::unique_ptr<memory::AddressSpace> space_;
};

}  // namespace ringside::session
