#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.h"

namespace ringside::guestos {

// An instruction that hardware's entry into Linux's assembly begins with.
struct StubInstruction {
  std::uint64_t offset = 0;  // in the code
  std::uint64_t size = 0;
  std::int16_t frame = 0;  // bytes from the stack pointer, before it runs, up to the saved rip
  bool leaves = false;     // the call or jump that ends what is known
};

// Follows a stub from `from` on to the first call, or jump, that it makes (arch/x86/entry/
// entry_64.S, idtentry and idtentry_irq; arch/x86/include/asm/idtentry.h, irq_entries_start): until
// there it pushes one word that stands for the error code, if hardware has pushed none, and may
// copy the frame (asm_exc_int3). Empty where it does anything else.
[[nodiscard]] std::vector<StubInstruction> read_stub(Bytes code, std::uint64_t from);

}  // namespace ringside::guestos
