#include "engines/gdb/virtual_reads.h"

#include <ctime>

#include "base/clock.h"
#include "engines/gdb/execution_mode.h"
#include "memory/address_space.h"
#include "memory/i386/page_walk.h"
#include "memory/x86_64/page_walk.h"

namespace ringside::engines::gdb {
namespace {

constexpr std::uint64_t kPatienceNs = 2'000'000'000;

// Never the same time twice in a row: a guest's timer must not be met in step.
void rest(unsigned tries) {
  const timespec pause{0, 1'000'000 + static_cast<long>(tries % 61) * 37'000};
  ::nanosleep(&pause, nullptr);
}

}  // namespace

bool VirtualReads::may_be_hidden(GuestVirt address, PrivilegeLevel level) const {
  const bool elsewhere = level == PrivilegeLevel::kUser ||
                         (arch_ == Arch::kRiscv64 && level == PrivilegeLevel::kFirmware);
  return elsewhere && address.value >> (arch_ == Arch::kI386 ? 31 : 63) != 0;
}

// Null where ringside has no page walk for what the vCPU runs, or paging is off.
std::unique_ptr<memory::PageTables> VirtualReads::tables_of(const wire::Registers& registers) {
  const auto i386 = arch_ == Arch::kI386 ? std::optional(registers) : as_i386(registers);
  if (i386) {
    if (const auto tables = memory::i386::ProtectedModeTables::of(*i386))
      return std::make_unique<memory::i386::ProtectedModeTables>(*tables);
  } else if (const auto tables = memory::x86_64::LongModeTables::of(registers)) {
    return std::make_unique<memory::x86_64::LongModeTables>(*tables);
  }
  return nullptr;
}

Result<VirtualRead> VirtualReads::read_once(VcpuId vcpu, GuestVirt address,
                                            std::span<std::byte> destination) {
  std::string why = fmt::format("there is no page walk for what vCPU {} runs", vcpu.value);
  if (arch_ == Arch::kX86_64 || arch_ == Arch::kI386) {
    const auto ram = physical_->find();
    if (!ram && ram.error().code != ErrorCode::kUnsupported)
      return tl::unexpected<Error>(ram.error());
    if (ram && !physical_->stops_the_guest()) {
      RINGSIDE_ASSIGN(const wire::Registers registers, read_registers_(vcpu));
      if (const auto tables = tables_of(registers)) {
        explanation_ =
            fmt::format("page walks over QEMU's own memory (process {})", physical_->qemu());
        RINGSIDE_ASSIGN(const std::size_t got,
                        memory::AddressSpace(*tables, **ram).read_up_to(address, destination));
        return VirtualRead{got, privilege_level_of(arch_, registers)};
      }
    } else {
      why = ram ? physical_->why_not_from_qemu() : ram.error().message;
    }
  }
  explanation_ = fmt::format("the gdb stub, in stops of the guest ({})", why);
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
    rest(tries);
  }
}

}  // namespace ringside::engines::gdb
