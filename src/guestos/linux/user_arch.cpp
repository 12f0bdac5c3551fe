#include "guestos/linux/user_arch.h"

namespace ringside::guestos {
namespace {

// user_64bit_mode() in arch/x86/include/asm/ptrace.h: __USER_CS, and Xen's FLAT_USER_CS64. A
// segment of the local descriptor table has 32 or 16 bits.
bool is_64_bit(std::uint64_t cs) {
  constexpr std::uint64_t kUserCs = 0x33;
  constexpr std::uint64_t kXenUserCs = 0xe033;
  const std::uint64_t selector = cs & 0xffff;
  return selector == kUserCs || selector == kXenUserCs;
}

}  // namespace

Arch user_arch(Arch kernel, const arch::Registers& registers) {
  // PSTATE.nRW; as SPSR_EL1.M[4] saves it (Arm Architecture Reference Manual, C5.2.18).
  constexpr std::uint64_t kAArch32 = 0x10;
  using namespace arch;
  if (kernel == Arch::kX86_64 && registers.has(x86_64::kCs) &&
      !is_64_bit(registers.get(x86_64::kCs)))
    return Arch::kI386;
  if (kernel == Arch::kAArch64 && registers.has(aarch64::kCpsr) &&
      (registers.get(aarch64::kCpsr) & kAArch32) != 0)
    return Arch::kUnknown;
  return kernel;
}

}  // namespace ringside::guestos
