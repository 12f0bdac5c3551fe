#include "session/kernel/trap_loop.h"

#include "arch/riscv64.h"

namespace ringside::session {

using namespace arch::riscv64;

// Interrupts are off there, so that none can have come.
bool repeats_a_trap(const wire::Capture& capture) {
  constexpr std::uint64_t kMachine = 3;
  constexpr std::uint64_t kBase = ~std::uint64_t{3};  // of mtvec: the address
  const arch::Registers& registers = capture.registers;
  const bool has_all = capture.arch == Arch::kRiscv64 && registers.has(kPc) &&
                       registers.has(kSepc) && registers.has(kStvec) && registers.has(kPriv);
  const std::uint64_t pc = registers.get(kPc);
  return has_all && registers.get(kPriv) == kMachine && registers.get(kSepc) == pc &&
         (registers.get(kStvec) & kBase) == pc;
}

void keep_pc_alone(wire::Capture& capture) {
  arch::Registers kept;
  for (const std::uint8_t reg : {kPc, kPriv, kSepc, kStvec})
    kept.set(reg, capture.registers.get(reg));
  capture.registers = kept;
  capture.pieces.clear();
  capture.bytes.clear();
}

}  // namespace ringside::session
