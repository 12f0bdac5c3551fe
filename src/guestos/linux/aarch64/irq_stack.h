#pragma once

#include <cstdint>
#include <vector>

#include "elf/image_map.h"

namespace ringside::guestos {

// A frame record on an interrupt stack: the one of the first function there, which leads to the
// stack that was left.
struct IrqStackRecord {
  std::uint64_t below_end = 0;   // bytes from it to the stack's end
  std::uint64_t returns_to = 0;  // kReturnAddressBits of the word behind it

  bool operator==(const IrqStackRecord&) const = default;
};

// Where functions that Linux on arm64 calls with call_on_irq_stack (arch/arm64/kernel/entry.S, 5.14
// and later) push their frame record: ____do_softirq and gic_handle_irq, by their first `stp x29,
// x30, [sp, #-…]!`. Nothing for other kernels, where the place is learnt.
[[nodiscard]] std::vector<IrqStackRecord> aarch64_irq_stack_records(const elf::Image& kernel);

}  // namespace ringside::guestos
