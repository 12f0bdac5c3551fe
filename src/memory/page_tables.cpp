#include "memory/page_tables.h"

#include "arch/execution_mode.h"
#include "arch/x86.h"
#include "memory/aarch64/page_walk.h"
#include "memory/i386/page_walk.h"
#include "memory/riscv64/page_walk.h"
#include "memory/x86_64/page_walk.h"

namespace ringside::memory {
namespace {

template <class Tables>
std::unique_ptr<PageTables> make(const arch::Registers& registers) {
  const auto tables = Tables::of(registers);
  return tables ? std::make_unique<Tables>(*tables) : nullptr;
}

}  // namespace

std::unique_ptr<PageTables> page_tables_of(Arch arch, const arch::Registers& registers) {
  switch (arch) {
    case Arch::kX86_64:
      if (const auto legacy = arch::as_i386(registers))
        return make<i386::ProtectedModeTables>(*legacy);
      return make<x86_64::LongModeTables>(registers);
    case Arch::kI386:
      return make<i386::ProtectedModeTables>(registers);
    case Arch::kAArch64:
      return make<aarch64::StageOneTables>(registers);
    case Arch::kRiscv64:
      return make<riscv64::SupervisorTables>(registers);
    case Arch::kUnknown:
      break;
  }
  return nullptr;
}

std::span<const std::uint8_t> registers_of_walks(Arch arch) {
  static constexpr std::uint8_t kX86[]{arch::x86_64::kCr0, arch::x86_64::kCr3, arch::x86_64::kCr4,
                                       arch::x86_64::kEfer};
  static constexpr std::uint8_t kX86Of32Bits[]{arch::i386::kCr0, arch::i386::kCr3,
                                               arch::i386::kCr4};
  static constexpr std::uint8_t kArm[]{arch::aarch64::kCpsr, arch::aarch64::kTtbr0El1,
                                       arch::aarch64::kTtbr1El1, arch::aarch64::kTcrEl1,
                                       arch::aarch64::kSctlrEl1};
  static constexpr std::uint8_t kRiscv[]{arch::riscv64::kPriv, arch::riscv64::kSatp};
  switch (arch) {
    case Arch::kX86_64:
      return kX86;
    case Arch::kI386:
      return kX86Of32Bits;
    case Arch::kAArch64:
      return kArm;
    case Arch::kRiscv64:
      return kRiscv;
    case Arch::kUnknown:
      break;
  }
  return {};
}

}  // namespace ringside::memory
