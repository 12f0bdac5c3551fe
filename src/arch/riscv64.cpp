#include "arch/riscv64.h"

#include <elf.h>

#include "arch/arch_info.h"

namespace ringside::arch {
namespace {

using namespace riscv64;

// org.gnu.gdb.riscv.cpu in the order of the registers' numbers; then .virtual and .csr, QEMU's
// gdb-xml/riscv-64bit-virtual.xml and target/riscv/csr.c.
constexpr RegisterName kNames[] = {
    {"zero", 0},
    {"ra", kRa},
    {"sp", kSp},
    {"gp", kGp},
    {"tp", kTp},
    {"t0", 5},
    {"t1", 6},
    {"t2", 7},
    {"fp", kFp},
    {"s1", kS1},
    {"a0", 10},
    {"a1", 11},
    {"a2", 12},
    {"a3", 13},
    {"a4", 14},
    {"a5", 15},
    {"a6", 16},
    {"a7", 17},
    {"s2", 18},
    {"s3", 19},
    {"s4", 20},
    {"s5", 21},
    {"s6", 22},
    {"s7", 23},
    {"s8", 24},
    {"s9", 25},
    {"s10", 26},
    {"s11", 27},
    {"t3", 28},
    {"t4", 29},
    {"t5", 30},
    {"t6", 31},
    {"s0", kFp},
    {"pc", kPc},
    {"priv", kPriv},
    {"satp", kSatp},
    {"sepc", kSepc, AskedFor::kKernelSample, 1},
    {"mepc", kSepc, AskedFor::kKernelSample, 3},
    {"sstatus", kSstatus, AskedFor::kKernelSample, 1},
    {"mstatus", kSstatus, AskedFor::kKernelSample, 3},
    {"stvec", kStvec, AskedFor::kOnDemand},
    {"mtvec", kStvec, AskedFor::kKernelSample, 3},
    {"sscratch", kSscratch, AskedFor::kOnDemand},
    {"scause", kScause, AskedFor::kOnDemand},
    {"stval", kStval, AskedFor::kOnDemand},
};

// The RISC-V Instruction Set Manual, volume II, table 1.1.
PrivilegeLevel level(const Registers& registers) {
  if (!registers.has(kPriv)) return PrivilegeLevel::kUnknown;
  switch (registers.get(kPriv) & 3) {
    case 0:
      return PrivilegeLevel::kUser;
    case 1:
      return PrivilegeLevel::kKernel;
    case 3:
      return PrivilegeLevel::kFirmware;
    default:
      return PrivilegeLevel::kUnknown;
  }
}

// 0 user, 1 supervisor, 3 machine.
std::optional<std::uint8_t> running(const Registers& registers) {
  if (!registers.has(kPriv)) return std::nullopt;
  return static_cast<std::uint8_t>(registers.get(kPriv) & 3);
}

constexpr ArchInfo kUsual = {
    .id = Arch::kRiscv64,
    .name = "riscv64",
    .elf_machine = EM_RISCV,
    .gdb_name = "riscv:rv64",
    .registers = kNames,
    // psABI, "Register Convention": s0 to s11; gp and tp are unallocatable.
    .roles = {.pc = kPc,
              .sp = kSp,
              .fp = kFp,
              .link = kRa,
              .stack_alignment = 16,
              .callee_saved = 0x3ffu << 18 | 1u << kFp | 1u << kS1 | 1u << kGp | 1u << kTp},
    // psABI, "Frame Pointer Convention": fp is the CFA, above {fp, ra}.
    .frame_record = {.from_fp = -2, .caller_sp = 0},
    // satp: mode in bits 63 to 60, page number of the root in 43 to 0 (privileged specification,
    // "Supervisor Address Translation and Protection").
    .user_root = {kSatp, 0x0000'0fff'ffff'ffff, 12, std::uint64_t{0xf} << 60},
    .privilege_level = level,
    .running_level = running,
    .user_mode = {kPriv, 3, 0},
    .saved_mode = {kSstatus, 0x100, 0},  // sstatus.SPP (privileged specification, 4.1.1)
    .exception = {kSepc, kSstatus},
    .firmware_is_physical = true,
    .firmware_mode = "in machine mode",
    .guest_mode = "in supervisor mode, while the kernel runs in machine mode",
};

// All that such a kernel enters is less privileged: mstatus.MPP (privileged specification,
// 3.1.6.1).
constexpr ArchInfo in_machine_mode() {
  ArchInfo info = kUsual;
  info.saved_mode.mask = 3u << 11;
  info.saved_mode.kernel_value = 3u << 11;
  return info;
}
constinit const ArchInfo kMachineMode = in_machine_mode();

constexpr ArchInfo with_levels() {
  ArchInfo info = kUsual;
  info.at_level = {nullptr, nullptr, nullptr, &kMachineMode};
  return info;
}

}  // namespace

constinit const ArchInfo kRiscv64Info = with_levels();

}  // namespace ringside::arch
