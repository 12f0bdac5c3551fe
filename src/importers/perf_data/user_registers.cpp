#include "importers/perf_data/user_registers.h"

#include <span>

namespace ringside::importers::perf_data {
namespace {

constexpr std::uint8_t kNone = 0xff;
constexpr std::uint64_t kAbi32 = 1;

// By the number of the kernel's register: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs,
// r8 … r15.
constexpr std::uint8_t kX86_64[] = {arch::x86_64::kRax,
                                    arch::x86_64::kRbx,
                                    arch::x86_64::kRcx,
                                    arch::x86_64::kRdx,
                                    arch::x86_64::kRsi,
                                    arch::x86_64::kRdi,
                                    arch::x86_64::kRbp,
                                    arch::x86_64::kRsp,
                                    arch::x86_64::kRip,
                                    kNone,
                                    kNone,
                                    kNone,
                                    kNone,
                                    kNone,
                                    kNone,
                                    kNone,
                                    arch::x86_64::kR8,
                                    arch::x86_64::kR9,
                                    arch::x86_64::kR10,
                                    arch::x86_64::kR11,
                                    arch::x86_64::kR12,
                                    arch::x86_64::kR13,
                                    arch::x86_64::kR14,
                                    arch::x86_64::kR15};
constexpr std::uint8_t kI386[] = {arch::i386::kEax, arch::i386::kEbx, arch::i386::kEcx,
                                  arch::i386::kEdx, arch::i386::kEsi, arch::i386::kEdi,
                                  arch::i386::kEbp, arch::i386::kEsp, arch::i386::kEip};
// pc ra sp gp tp, t0 … t2, s0 s1, a0 … a7, s2 … s11, t3 … t6: x1 … x31 but for the pc.
constexpr std::size_t kRiscvCount = 32;
constexpr std::size_t kAarch64Count = 33;  // x0 … x29, lr, sp, pc: numbered as DWARF does

std::uint8_t number_of(Arch arch, std::size_t kernel_register) {
  switch (arch) {
    case Arch::kX86_64:
      return kernel_register < std::size(kX86_64) ? kX86_64[kernel_register] : kNone;
    case Arch::kI386:
      return kernel_register < std::size(kI386) ? kI386[kernel_register] : kNone;
    case Arch::kAArch64:
      return kernel_register < kAarch64Count ? static_cast<std::uint8_t>(kernel_register) : kNone;
    case Arch::kRiscv64:
      if (kernel_register == 0) return arch::riscv64::kPc;
      return kernel_register < kRiscvCount ? static_cast<std::uint8_t>(kernel_register) : kNone;
    case Arch::kUnknown:
      break;
  }
  return kNone;
}

Arch arch_of(std::uint64_t abi, Arch machine) {
  if (abi != kAbi32) return machine;
  return machine == Arch::kX86_64 || machine == Arch::kI386 ? Arch::kI386 : Arch::kUnknown;
}

}  // namespace

std::optional<UserState> user_state(const SampleRecord::RegisterSet& set, std::uint64_t mask,
                                    Arch machine) {
  if (set.abi == 0 || set.values.empty()) return std::nullopt;
  UserState state;
  state.arch = arch_of(set.abi, machine);
  if (state.arch == Arch::kUnknown) return std::nullopt;
  std::size_t next = 0;
  for (std::size_t bit = 0; bit < 64 && next < set.values.size(); ++bit) {
    if ((mask >> bit & 1) == 0) continue;
    const std::uint8_t number = number_of(state.arch, bit);
    const std::uint64_t value = set.values[next++];
    if (number != kNone)
      state.registers.set(number, state.arch == Arch::kI386 ? value & 0xffffffff : value);
  }
  return state;
}

}  // namespace ringside::importers::perf_data
