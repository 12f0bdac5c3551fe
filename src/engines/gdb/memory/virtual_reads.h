#pragma once

#include <functional>
#include <string>

#include "engines/gdb/memory/sliced_reads.h"
#include "engines/qemu_ram.h"
#include "memory/address_space.h"

namespace ringside::engines::gdb {

// A vCPU's virtual memory while the guest runs: by page walks where QEMU's address space can be
// read, otherwise by the stub in slices.
//
// With page-table isolation (x86 with Meltdown, arm64 with KASLR) the kernel is not mapped while
// user code runs, and on riscv64 no address is virtual while firmware runs. Where a read in the
// kernel's half of the addresses ends at such a moment, it goes on at a later one, for 2 s at most.
class VirtualReads {
 public:
  using ReadRegisters = std::function<Result<arch::Registers>(VcpuId)>;
  VirtualReads(Arch arch, ReadRegisters read_registers, SlicedReads& slices, QemuRam& physical)
      : arch_(arch),
        read_registers_(std::move(read_registers)),
        slices_(&slices),
        physical_(&physical) {}

  // As Engine::read_virtual, for a vCPU that there is.
  [[nodiscard]] Result<std::size_t> read(VcpuId vcpu, GuestVirt address,
                                         std::span<std::byte> destination);
  // The reader of physical memory; errors as QemuRam::find().
  [[nodiscard]] Result<PhysicalMemory*> find_physical();
  // How the last read was done, or will be.
  [[nodiscard]] const std::string& explain() const { return explanation_; }

 private:
  [[nodiscard]] Result<VirtualRead> read_once(VcpuId vcpu, GuestVirt address,
                                              std::span<std::byte> destination);
  void explain_stops(const std::string& why);
  [[nodiscard]] Result<bool> enters_kernel(memory::AddressSpace& space,
                                           const arch::Registers& registers) const;
  [[nodiscard]] bool may_be_hidden(GuestVirt address, PrivilegeLevel level) const;

  Arch arch_;
  ReadRegisters read_registers_;
  SlicedReads* slices_;
  QemuRam* physical_;
  std::string explanation_;
};

}  // namespace ringside::engines::gdb
