#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

// The registers that a capture carries, the same numbers for every engine. General registers have
// their DWARF numbers, so that call-frame information can name them.

namespace ringside::wire {

inline constexpr std::size_t kRegisterCount = 64;

// System V psABI for x86-64, figure 3.36: rax rdx rcx rbx rsi rdi rbp rsp r8 … r15, return address.
namespace x86_64 {
enum Register : std::uint8_t {
  kRax,
  kRdx,
  kRcx,
  kRbx,
  kRsi,
  kRdi,
  kRbp,
  kRsp,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15,
  kRip,
  // Our own numbers from here on.
  kRflags = 32,
  kCs,
  kSs,
  kFsBase,
  kGsBase,
  kKernelGsBase,
  kCr0,
  kCr2,
  kCr3,
  kCr4,
  kCr8,
  kEfer,
};
}  // namespace x86_64

// Intel386 psABI, table 2.14: eax ecx edx ebx esp ebp esi edi, return address.
namespace i386 {
enum Register : std::uint8_t {
  kEax,
  kEcx,
  kEdx,
  kEbx,
  kEsp,
  kEbp,
  kEsi,
  kEdi,
  kEip,
  // Our own numbers from here on.
  kEflags = 32,
  kCs,
  kSs,
  kFsBase,
  kGsBase,
  kCr0,
  kCr2,
  kCr3,
  kCr4,
};
}  // namespace i386

// DWARF for the Arm 64-bit Architecture (AADWARF64), table 2: x0 … x30, sp, pc.
namespace aarch64 {
enum Register : std::uint8_t {
  kX0 = 0,
  kX18 = 18,
  kX19 = 19,
  kX28 = 28,
  kFp = 29,
  kLr = 30,
  kSp = 31,
  kPc = 32,
  kElrMode = 33,
  kRaSignState = 34,
  // Our own numbers from here on.
  kCpsr = 40,
  kSpEl0,
  kTtbr0El1,
  kTtbr1El1,
  kTcrEl1,
  kTpidrEl1,
  kTpidrEl0,
  kVbarEl1,
  kSctlrEl1,
  kElrEl1,  // in EL2 and EL3 that level's own, as the next is
  kSpsrEl1,
  kEsrEl1,
  kMairEl1,
  kTpidrroEl0,
  kFarEl1,
};
}  // namespace aarch64

// RISC-V ELF psABI, "DWARF Register Numbers": x0 … x31. The pc has none there: it is ours.
namespace riscv64 {
enum Register : std::uint8_t {
  kZero,
  kRa,
  kSp,
  kGp,
  kTp,
  kT0,
  kT1,
  kT2,
  kFp,  // s0
  kS1,
  kA0,
  kS2 = 18,
  kS11 = 27,
  kT6 = 31,
  // Our own numbers from here on.
  kPc,
  kPriv,  // 0 user, 1 supervisor, 3 machine
  kSatp,
  kSstatus,  // in machine mode mstatus
  kSepc,     // in machine mode mepc
  kScause,
  kStvec,
  kSscratch,
  kStval,
};
}  // namespace riscv64

// Which of an architecture's registers play the parts that every stack needs. kNone: it has none.
struct RegisterRoles {
  static constexpr std::uint8_t kNone = 0xff;

  std::uint8_t pc = kNone;
  std::uint8_t sp = kNone;
  std::uint8_t fp = kNone;
  std::uint8_t link = kNone;         // holds the return address on entry
  std::uint8_t pointer_size = 8;     // bytes
  std::uint8_t stack_alignment = 8;  // that a stack pointer keeps inside a function too, bytes
  std::uint64_t callee_saved = 0;    // bit n: a function gives register n back as it was

  [[nodiscard]] constexpr bool known() const { return pc != kNone; }
};

constexpr RegisterRoles roles_of(Arch arch) {
  switch (arch) {
    case Arch::kX86_64: {
      using namespace x86_64;
      return {kRip,
              kRsp,
              kRbp,
              RegisterRoles::kNone,
              8,
              8,
              1u << kRbx | 1u << kRbp | 1u << kR12 | 1u << kR13 | 1u << kR14 | 1u << kR15};
    }
    case Arch::kI386: {
      using namespace i386;
      return {kEip,
              kEsp,
              kEbp,
              RegisterRoles::kNone,
              4,
              4,
              1u << kEbx | 1u << kEbp | 1u << kEsi | 1u << kEdi};
    }
    case Arch::kAArch64:
      return {aarch64::kPc, aarch64::kSp, aarch64::kFp, aarch64::kLr, 8, 16, 0x3ff80000};
    case Arch::kRiscv64:
      return {riscv64::kPc,
              riscv64::kSp,
              riscv64::kFp,
              riscv64::kRa,
              8,
              16,
              0x3ffu << 18 | 1u << riscv64::kFp | 1u << riscv64::kS1 | 1u << riscv64::kGp |
                  1u << riscv64::kTp};
    case Arch::kUnknown:
      break;
  }
  return {};
}

struct Registers {
  std::uint64_t values[kRegisterCount] = {};
  std::uint64_t valid = 0;  // bit n: values[n] was read

  [[nodiscard]] constexpr bool has(std::size_t n) const {
    return n < kRegisterCount && (valid >> n & 1u) != 0;
  }
  [[nodiscard]] constexpr std::uint64_t get(std::size_t n) const { return values[n]; }
  constexpr void set(std::size_t n, std::uint64_t value) {
    values[n] = value;
    valid |= std::uint64_t{1} << n;
  }
  constexpr void forget(std::size_t n) { valid &= ~(std::uint64_t{1} << n); }
};

}  // namespace ringside::wire
