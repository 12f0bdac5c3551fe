#include "session/kernel/kernel_tables.h"

#include <array>

#include "arch/arch_info.h"
#include "memory/aarch64/page_walk.h"
#include "memory/page_tables.h"

namespace ringside::session {
namespace {

using memory::aarch64::StageOneTables;

// Where the stack is empty its pointer is the first address behind it, which is not mapped.
constexpr std::uint64_t kBelowStackPointer = 16;

Result<bool> maps(const memory::PageTables& tables, PhysicalMemory& physical,
                  const wire::Capture& capture) {
  const arch::RegisterRoles roles = arch::roles_of(capture.arch);
  const std::array addresses{capture.registers.get(roles.pc),
                             capture.registers.get(roles.sp) - kBelowStackPointer};
  for (const std::uint64_t address : addresses) {
    RINGSIDE_ASSIGN(const auto walk, tables.walk(physical, GuestVirt{address}));
    if (walk.end != memory::WalkEnd::kMapped) return false;
  }
  return true;
}

// Reads any vCPU's registers: the kernel's root and TCR_EL1 are the same on all. One that is idle
// may not answer (kTimeout).
Result<arch::Registers> registers_now(engines::Engine& engine, VcpuId first) {
  auto registers = engine.read_registers(first);
  for (std::uint16_t n = 0; n < engine.vcpu_count(); ++n) {
    if (registers || registers.error().code != ErrorCode::kTimeout) break;
    if (n != first.value) registers = engine.read_registers(VcpuId{n});
  }
  return registers;
}

// In pages from TTBR1_EL1: itself; Linux's swapper_pg_dir from tramp_pg_dir (TRAMP_SWAPPER_OFFSET
// in arch/arm64/include/asm/memory.h, 5.11 to 6.12), and from reserved_pg_dir, which a vCPU uses
// while its address space changes (RESERVED_SWAPPER_OFFSET).
constexpr std::array<std::uint64_t, 3> kPagesToKernelRoot{0, 2, 1};

Result<std::unique_ptr<memory::PageTables>> find_aarch64(engines::Engine& engine,
                                                         const wire::Capture& capture,
                                                         PhysicalMemory& physical) {
  using namespace arch::aarch64;
  RINGSIDE_ASSIGN(arch::Registers registers, registers_now(engine, capture.vcpu));
  for (const std::uint8_t now : {kCpsr, kTtbr0El1})
    if (capture.registers.has(now)) registers.set(now, capture.registers.get(now));
  const auto tables = StageOneTables::of(registers);
  if (!tables) return nullptr;
  const std::uint64_t page = memory::aarch64::upper_granule(registers.get(kTcrEl1));
  for (const std::uint64_t pages : kPagesToKernelRoot) {
    StageOneTables::Roots roots = tables->roots();
    roots.ttbr1 += pages * page;
    auto candidate = std::make_unique<StageOneTables>(roots);
    RINGSIDE_ASSIGN(const bool is_kernel, maps(*candidate, physical, capture));
    if (is_kernel) return candidate;
  }
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<memory::PageTables>> find_kernel_tables(engines::Engine& engine,
                                                               const wire::Capture& capture,
                                                               PhysicalMemory& physical) {
  if (capture.arch != Arch::kAArch64)
    return memory::page_tables_of(capture.arch, capture.registers);
  auto found = find_aarch64(engine, capture, physical);
  const bool not_now = !found && (found.error().code == ErrorCode::kUnsupported ||
                                  found.error().code == ErrorCode::kTimeout);
  if (not_now) return nullptr;
  return found;
}

}  // namespace ringside::session
