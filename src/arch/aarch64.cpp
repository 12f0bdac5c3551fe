#include "arch/aarch64.h"

#include <elf.h>

#include "arch/arch_info.h"

namespace ringside::arch {
namespace {

using namespace aarch64;

// org.gnu.gdb.aarch64.core, and the system registers as QEMU names them (target/arm/helper.c, 7.2):
// two have the name that AArch32 knows them by.
constexpr RegisterName kNames[] = {
    {"x0", 0},
    {"x1", 1},
    {"x2", 2},
    {"x3", 3},
    {"x4", 4},
    {"x5", 5},
    {"x6", 6},
    {"x7", 7},
    {"x8", 8},
    {"x9", 9},
    {"x10", 10},
    {"x11", 11},
    {"x12", 12},
    {"x13", 13},
    {"x14", 14},
    {"x15", 15},
    {"x16", 16},
    {"x17", 17},
    {"x18", 18},
    {"x19", 19},
    {"x20", 20},
    {"x21", 21},
    {"x22", 22},
    {"x23", 23},
    {"x24", 24},
    {"x25", 25},
    {"x26", 26},
    {"x27", 27},
    {"x28", 28},
    {"x29", kFp},
    {"x30", kLr},
    {"sp", kSp},
    {"pc", kPc},
    {"cpsr", kCpsr},
    {"SP_EL0", kSpEl0},
    {"TTBR0_EL1", kTtbr0El1},
    {"TPIDR_EL1", kTpidrEl1},
    {"ELR_EL1", kElrEl1, AskedFor::kKernelSample, 1},
    {"ELR_EL2", kElrEl1, AskedFor::kKernelSample, 2},
    {"ELR_EL3", kElrEl1, AskedFor::kKernelSample, 3},
    {"SPSR_EL1", kSpsrEl1, AskedFor::kKernelSample, 1},
    {"SPSR_EL2", kSpsrEl1, AskedFor::kKernelSample, 2},
    {"SPSR_EL3", kSpsrEl1, AskedFor::kKernelSample, 3},
    {"TPIDRRO_EL0", kTpidrroEl0, AskedFor::kKernelSample},
    {"FAR_EL1", kFarEl1, AskedFor::kKernelSample},
    {"TTBR1_EL1", kTtbr1El1, AskedFor::kOnDemand},
    {"TCR_EL1", kTcrEl1, AskedFor::kOnDemand},
    {"VBAR_EL1", kVbarEl1, AskedFor::kOnDemand},
    {"VBAR", kVbarEl1, AskedFor::kOnDemand},
    {"SCTLR_EL1", kSctlrEl1, AskedFor::kOnDemand},
    {"SCTLR", kSctlrEl1, AskedFor::kOnDemand},
    {"MAIR_EL1", kMairEl1, AskedFor::kOnDemand},
    {"ESR_EL1", kEsrEl1, AskedFor::kOnDemand},
    {"TPIDR_EL0", kTpidrEl0, AskedFor::kOnDemand},
    {"ra_sign_state", kRaSignState, AskedFor::kNever},
};

constexpr std::uint64_t kAArch32 = 0x10;

// SPSR_ELx.M as in the Arm Architecture Reference Manual, C5.2.18: bit 4 AArch32, bits 3:2 the
// exception level.
PrivilegeLevel level(const Registers& registers) {
  if (!registers.has(kCpsr)) return PrivilegeLevel::kUnknown;
  const std::uint64_t cpsr = registers.get(kCpsr);
  if ((cpsr & kAArch32) != 0)
    return (cpsr & 0xf) == 0 ? PrivilegeLevel::kUser : PrivilegeLevel::kUnknown;
  switch (cpsr >> 2 & 3) {
    case 0:
      return PrivilegeLevel::kUser;
    case 1:
      return PrivilegeLevel::kKernel;
    default:
      return PrivilegeLevel::kFirmware;
  }
}

// The exception level; nothing in AArch32.
std::optional<std::uint8_t> running(const Registers& registers) {
  if (!registers.has(kCpsr) || (registers.get(kCpsr) & kAArch32) != 0) return std::nullopt;
  return static_cast<std::uint8_t>(registers.get(kCpsr) >> 2 & 3);
}

constexpr ArchInfo kUsual = {
    .id = Arch::kAArch64,
    .name = "aarch64",
    .elf_machine = EM_AARCH64,
    .gdb_name = "aarch64",
    .registers = kNames,
    // AAPCS64, 6.1.1: x19 to x28, and the frame pointer.
    .roles = {.pc = kPc,
              .sp = kSp,
              .fp = kFp,
              .link = kLr,
              .stack_alignment = 16,
              .callee_saved = 0x3ff80000},
    .signs_addresses = true,
    // TTBR0_EL1.BADDR, 48 bits (Arm ARM, D19.2.152).
    .user_root = {kTtbr0El1, 0x0000'ffff'ffff'fffe},
    .privilege_level = level,
    .running_level = running,
    .user_mode = {kCpsr, 0xc, 0},   // PSTATE.M: exception level 0
    .saved_mode = {kCpsr, 0xf, 0},  // SPSR.M: EL0t is 0; bit 4 is set for AArch32, user code
    .exception = {kElrEl1, kSpsrEl1},
    .firmware_mode = "in EL2 or EL3",
    .guest_mode = "in EL1, while the kernel runs in EL2 or EL3",
};

// All that such a kernel enters is less privileged. SPSR.M: bit 4 AArch32, bits 3:2 the level.
constexpr ArchInfo in_level(std::uint64_t level) {
  ArchInfo info = kUsual;
  info.saved_mode.mask = 0x1c;
  info.saved_mode.kernel_value = level << 2;
  return info;
}
constinit const ArchInfo kEl2 = in_level(2);
constinit const ArchInfo kEl3 = in_level(3);

constexpr ArchInfo with_levels() {
  ArchInfo info = kUsual;
  info.at_level = {nullptr, nullptr, &kEl2, &kEl3};
  return info;
}

}  // namespace

constinit const ArchInfo kAArch64Info = with_levels();

}  // namespace ringside::arch
