#pragma once

#include <vector>

#include "elf/image_map.h"
#include "guestos/stack_recipe.h"

namespace ringside::guestos {

// Where functions that Linux on arm64 calls with call_on_irq_stack (arch/arm64/kernel/entry.S, 5.14
// and later) push their frame record: ____do_softirq and gic_handle_irq, by their first `stp x29,
// x30, [sp, #-…]!`. Nothing for other kernels, where the place is learnt.
[[nodiscard]] std::vector<EndRecord> aarch64_irq_stack_records(const elf::Image& kernel);

// The same records for a kernel that does not say where its interrupt stacks are, for its list of
// symbols has no data (irq_stack_ptr without CONFIG_KALLSYMS_ALL). With them goes the code that
// runs while such a stack is empty: call_on_irq_stack and the functions that it calls. `alignment`:
// its stacks end at multiples of that.
[[nodiscard]] UnknownStacks aarch64_unknown_irq_stacks(const elf::Image& kernel);

}  // namespace ringside::guestos
