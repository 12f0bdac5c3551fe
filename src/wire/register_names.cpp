#include "wire/register_names.h"

#include <algorithm>
#include <array>
#include <span>

#include "wire/registers.h"

namespace ringside::wire {
namespace {

namespace x86 = x86_64;
namespace x32 = i386;
namespace arm = aarch64;
namespace riscv = riscv64;

// gdb's features org.gnu.gdb.i386.core and .linux, and QEMU's system registers in
// gdb-xml/i386-64bit.xml (7.2).
constexpr std::array<KnownRegister, 28> kX86_64{{
    {"rax", x86::kRax},        {"rbx", x86::kRbx}, {"rcx", x86::kRcx},
    {"rdx", x86::kRdx},        {"rsi", x86::kRsi}, {"rdi", x86::kRdi},
    {"rbp", x86::kRbp},        {"rsp", x86::kRsp}, {"r8", x86::kR8},
    {"r9", x86::kR9},          {"r10", x86::kR10}, {"r11", x86::kR11},
    {"r12", x86::kR12},        {"r13", x86::kR13}, {"r14", x86::kR14},
    {"r15", x86::kR15},        {"rip", x86::kRip}, {"eflags", x86::kRflags},
    {"cs", x86::kCs},          {"ss", x86::kSs},   {"fs_base", x86::kFsBase},
    {"gs_base", x86::kGsBase}, {"cr0", x86::kCr0}, {"k_gs_base", x86::kKernelGsBase},
    {"cr2", x86::kCr2},        {"cr3", x86::kCr3}, {"cr4", x86::kCr4},
    {"efer", x86::kEfer},
}};

// gdb-xml/i386-32bit.xml.
constexpr std::array<KnownRegister, 18> kI386{{
    {"eax", x32::kEax},
    {"ecx", x32::kEcx},
    {"edx", x32::kEdx},
    {"ebx", x32::kEbx},
    {"esp", x32::kEsp},
    {"ebp", x32::kEbp},
    {"esi", x32::kEsi},
    {"edi", x32::kEdi},
    {"eip", x32::kEip},
    {"eflags", x32::kEflags},
    {"cs", x32::kCs},
    {"ss", x32::kSs},
    {"fs_base", x32::kFsBase},
    {"gs_base", x32::kGsBase},
    {"cr0", x32::kCr0},
    {"cr2", x32::kCr2},
    {"cr3", x32::kCr3},
    {"cr4", x32::kCr4},
}};

// org.gnu.gdb.aarch64.core, and the system registers as QEMU names them (target/arm/helper.c, 7.2):
// two have the name that AArch32 knows them by.
constexpr std::array<KnownRegister, 23> kAArch64{{
    {"sp", arm::kSp},
    {"pc", arm::kPc},
    {"cpsr", arm::kCpsr},
    {"SP_EL0", arm::kSpEl0},
    {"TTBR0_EL1", arm::kTtbr0El1},
    {"TPIDR_EL1", arm::kTpidrEl1},
    {"ELR_EL1", arm::kElrEl1, AskedFor::kKernelSample, 1},
    {"ELR_EL2", arm::kElrEl1, AskedFor::kKernelSample, 2},
    {"ELR_EL3", arm::kElrEl1, AskedFor::kKernelSample, 3},
    {"SPSR_EL1", arm::kSpsrEl1, AskedFor::kKernelSample, 1},
    {"SPSR_EL2", arm::kSpsrEl1, AskedFor::kKernelSample, 2},
    {"SPSR_EL3", arm::kSpsrEl1, AskedFor::kKernelSample, 3},
    {"TPIDRRO_EL0", arm::kTpidrroEl0, AskedFor::kKernelSample},
    {"FAR_EL1", arm::kFarEl1, AskedFor::kKernelSample},
    {"TTBR1_EL1", arm::kTtbr1El1, AskedFor::kOnDemand},
    {"TCR_EL1", arm::kTcrEl1, AskedFor::kOnDemand},
    {"VBAR", arm::kVbarEl1, AskedFor::kOnDemand},
    {"VBAR_EL1", arm::kVbarEl1, AskedFor::kOnDemand},
    {"SCTLR", arm::kSctlrEl1, AskedFor::kOnDemand},
    {"SCTLR_EL1", arm::kSctlrEl1, AskedFor::kOnDemand},
    {"MAIR_EL1", arm::kMairEl1, AskedFor::kOnDemand},
    {"ESR_EL1", arm::kEsrEl1, AskedFor::kOnDemand},
    {"TPIDR_EL0", arm::kTpidrEl0, AskedFor::kOnDemand},
}};

// org.gnu.gdb.riscv.cpu in the order of the registers' numbers, x0 … x31.
constexpr std::array<std::string_view, 32> kRiscvGeneral = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

// .virtual and .csr, QEMU's gdb-xml/riscv-64bit-virtual.xml and target/riscv/csr.c.
constexpr std::array<KnownRegister, 12> kRiscv64{{
    {"s0", riscv::kFp},
    {"pc", riscv::kPc},
    {"priv", riscv::kPriv},
    {"satp", riscv::kSatp},
    {"sepc", riscv::kSepc, AskedFor::kKernelSample, 1},
    {"mepc", riscv::kSepc, AskedFor::kKernelSample, 3},
    {"sstatus", riscv::kSstatus, AskedFor::kKernelSample, 1},
    {"mstatus", riscv::kSstatus, AskedFor::kKernelSample, 3},
    {"stvec", riscv::kStvec, AskedFor::kOnDemand},
    {"sscratch", riscv::kSscratch, AskedFor::kOnDemand},
    {"scause", riscv::kScause, AskedFor::kOnDemand},
    {"stval", riscv::kStval, AskedFor::kOnDemand},
}};

std::optional<KnownRegister> find(std::span<const KnownRegister> table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [name](const auto& entry) { return entry.name == name; });
  if (found == table.end()) return std::nullopt;
  return *found;
}

// x0 … x30.
std::optional<KnownRegister> aarch64_general(std::string_view name) {
  if (name.size() < 2 || name.size() > 3 || name.front() != 'x') return std::nullopt;
  unsigned number = 0;
  for (const char c : name.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = 10 * number + static_cast<unsigned>(c - '0');
  }
  if (number > arm::kLr) return std::nullopt;
  return KnownRegister{name, static_cast<std::uint8_t>(arm::kX0 + number)};
}

std::optional<KnownRegister> riscv64_general(std::string_view name) {
  const auto found = std::find(kRiscvGeneral.begin(), kRiscvGeneral.end(), name);
  if (found == kRiscvGeneral.end()) return std::nullopt;
  return KnownRegister{*found, static_cast<std::uint8_t>(found - kRiscvGeneral.begin())};
}

}  // namespace

std::optional<KnownRegister> known_register(Arch arch, std::string_view name) {
  switch (arch) {
    case Arch::kX86_64:
      return find(kX86_64, name);
    case Arch::kI386:
      return find(kI386, name);
    case Arch::kAArch64:
      if (auto general = aarch64_general(name)) return general;
      return find(kAArch64, name);
    case Arch::kRiscv64:
      if (auto general = riscv64_general(name)) return general;
      return find(kRiscv64, name);
    case Arch::kUnknown:
      break;
  }
  return std::nullopt;
}

}  // namespace ringside::wire
