#include "engines/gdb/memory/virtual_reads.h"

#include <ctime>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "base/clock.h"
#include "engines/patience.h"
#include "memory/page_tables.h"

namespace ringside::engines::gdb {
namespace {

constexpr std::uint64_t kPatienceNs = 2'000'000'000;

}  // namespace

bool VirtualReads::may_be_hidden(GuestVirt address, PrivilegeLevel level) const {
  const arch::ArchInfo& info = arch::info_of(arch_);
  const bool elsewhere = level == PrivilegeLevel::kUser ||
                         (info.firmware_is_physical && level == PrivilegeLevel::kFirmware);
  return elsewhere && info.in_upper_half(address.value);
}

// With page-table isolation the first instructions of arm64's entry run on tables that do not map
// the kernel, and so not its stack.
Result<bool> VirtualReads::enters_kernel(memory::AddressSpace& space,
                                         const arch::Registers& registers) const {
  if (arch_ != Arch::kAArch64) return false;
  const GuestVirt in_stack{registers.get(arch::aarch64::kSp) - 16};
  RINGSIDE_ASSIGN(const auto walk, space.walk(in_stack));
  return walk.end != memory::WalkEnd::kMapped;
}

void VirtualReads::explain_stops(const std::string& why) {
  explanation_ = fmt::format("the gdb stub, in stops of the guest ({})", why);
}

Result<PhysicalMemory*> VirtualReads::find_physical() {
  auto ram = physical_->find();
  if (ram && physical_->reads_qemu())
    explanation_ = "page walks over " + physical_->explain();
  else
    explain_stops(ram ? physical_->explain() : ram.error().message);
  return ram;
}

Result<VirtualRead> VirtualReads::read_once(VcpuId vcpu, GuestVirt address,
                                            std::span<std::byte> destination) {
  const auto ram = find_physical();
  if (!ram && ram.error().code != ErrorCode::kUnsupported)
    return tl::unexpected<Error>(ram.error());
  if (ram && physical_->reads_qemu()) {
    RINGSIDE_ASSIGN(const arch::Registers registers, read_registers_(vcpu));
    if (const auto tables = memory::page_tables_of(arch_, registers)) {
      memory::AddressSpace space(*tables, **ram);
      RINGSIDE_ASSIGN(const std::size_t got, space.read_up_to(address, destination));
      PrivilegeLevel level = privilege_level_of(arch_, registers);
      // The kernel is as hidden then as when user code runs.
      RINGSIDE_ASSIGN(const bool enters, enters_kernel(space, registers));
      if (level == PrivilegeLevel::kKernel && enters) level = PrivilegeLevel::kUser;
      return VirtualRead{got, level};
    }
    explain_stops(fmt::format("there is no page walk for what vCPU {} runs", vcpu.value));
  }
  return slices_->read(vcpu, address, destination);
}

Result<std::size_t> VirtualReads::read(VcpuId vcpu, GuestVirt address,
                                       std::span<std::byte> destination) {
  std::size_t done = 0;
  const std::uint64_t end = monotonic_ns() + kPatienceNs;
  for (unsigned tries = 0;; ++tries) {
    RINGSIDE_ASSIGN(const VirtualRead part,
                    read_once(vcpu, address + done, destination.subspan(done)));
    done += part.bytes;
    if (done == destination.size() || !may_be_hidden(address + done, part.level) ||
        monotonic_ns() >= end)
      return done;
    rest_between_tries(tries);
  }
}

}  // namespace ringside::engines::gdb
