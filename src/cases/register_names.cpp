#include "cases/register_names.h"

#include <array>
#include <charconv>

#include "wire/registers.h"

namespace ringside::cases {
namespace {

using Names = std::array<std::string_view, wire::kRegisterCount>;

constexpr Names make_x86_64() {
  using namespace wire::x86_64;
  Names names{};
  constexpr std::array<std::string_view, 17> kGeneral = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                                         "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                         "r12", "r13", "r14", "r15", "rip"};
  for (std::size_t i = 0; i < kGeneral.size(); ++i) names[i] = kGeneral[i];
  names[kRflags] = "eflags";
  names[kCs] = "cs";
  names[kSs] = "ss";
  names[kFsBase] = "fs_base";
  names[kGsBase] = "gs_base";
  names[kKernelGsBase] = "k_gs_base";
  names[kCr0] = "cr0";
  names[kCr2] = "cr2";
  names[kCr3] = "cr3";
  names[kCr4] = "cr4";
  names[kCr8] = "cr8";
  names[kEfer] = "efer";
  return names;
}

constexpr Names make_i386() {
  using namespace wire::i386;
  Names names{};
  constexpr std::array<std::string_view, 9> kGeneral = {"eax", "ecx", "edx", "ebx", "esp",
                                                        "ebp", "esi", "edi", "eip"};
  for (std::size_t i = 0; i < kGeneral.size(); ++i) names[i] = kGeneral[i];
  names[kEflags] = "eflags";
  names[kCs] = "cs";
  names[kSs] = "ss";
  names[kFsBase] = "fs_base";
  names[kGsBase] = "gs_base";
  names[kCr0] = "cr0";
  names[kCr2] = "cr2";
  names[kCr3] = "cr3";
  names[kCr4] = "cr4";
  return names;
}

constexpr Names make_aarch64() {
  using namespace wire::aarch64;
  Names names{};
  constexpr std::array<std::string_view, 33> kGeneral = {
      "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
      "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
      "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc"};
  for (std::size_t i = 0; i < kGeneral.size(); ++i) names[i] = kGeneral[i];
  names[kRaSignState] = "ra_sign_state";
  names[kCpsr] = "cpsr";
  names[kSpEl0] = "sp_el0";
  names[kTtbr0El1] = "ttbr0_el1";
  names[kTtbr1El1] = "ttbr1_el1";
  names[kTcrEl1] = "tcr_el1";
  names[kTpidrEl1] = "tpidr_el1";
  names[kTpidrEl0] = "tpidr_el0";
  names[kVbarEl1] = "vbar_el1";
  names[kSctlrEl1] = "sctlr_el1";
  names[kElrEl1] = "elr_el1";
  names[kSpsrEl1] = "spsr_el1";
  names[kEsrEl1] = "esr_el1";
  names[kMairEl1] = "mair_el1";
  names[kTpidrroEl0] = "tpidrro_el0";
  names[kFarEl1] = "far_el1";
  return names;
}

constexpr Names make_riscv64() {
  using namespace wire::riscv64;
  Names names{};
  constexpr std::array<std::string_view, 32> kGeneral = {
      "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "fp", "s1", "a0",
      "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
      "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
  for (std::size_t i = 0; i < kGeneral.size(); ++i) names[i] = kGeneral[i];
  names[kPc] = "pc";
  names[kPriv] = "priv";
  names[kSatp] = "satp";
  names[kSstatus] = "sstatus";
  names[kSepc] = "sepc";
  names[kScause] = "scause";
  names[kStvec] = "stvec";
  names[kSscratch] = "sscratch";
  names[kStval] = "stval";
  return names;
}

const Names& names_of(Arch arch) {
  static constexpr Names kNone{};
  static constexpr Names kX86 = make_x86_64();
  static constexpr Names kX86Small = make_i386();
  static constexpr Names kArm = make_aarch64();
  static constexpr Names kRiscv = make_riscv64();
  switch (arch) {
    case Arch::kX86_64:
      return kX86;
    case Arch::kI386:
      return kX86Small;
    case Arch::kAArch64:
      return kArm;
    case Arch::kRiscv64:
      return kRiscv;
    case Arch::kUnknown:
      break;
  }
  return kNone;
}

}  // namespace

std::string register_name(Arch arch, std::size_t number) {
  const Names& names = names_of(arch);
  if (number < names.size() && !names[number].empty()) return std::string(names[number]);
  return fmt::format("wire{}", number);
}

std::optional<std::uint8_t> register_number(Arch arch, std::string_view name) {
  const Names& names = names_of(arch);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!name.empty() && names[i] == name) return static_cast<std::uint8_t>(i);
  constexpr std::string_view kPrefix = "wire";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  std::uint8_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size() || number >= wire::kRegisterCount)
    return std::nullopt;
  return number;
}

std::optional<Arch> arch_named(std::string_view name) {
  for (const Arch arch : {Arch::kX86_64, Arch::kI386, Arch::kAArch64, Arch::kRiscv64})
    if (name == name_of(arch)) return arch;
  return std::nullopt;
}

}  // namespace ringside::cases
