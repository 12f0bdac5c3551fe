#pragma once

#include <functional>
#include <optional>

#include "unwind/cfi/section.h"
#include "unwind/machine_state.h"
#include "unwind/stack_memory.h"

namespace ringside::unwind::cfi {

struct ExpressionValue {
  std::uint64_t value = 0;
  GuestVirt slot;  // the last memory that was read on the way, 0 if none was
};

// How an evaluation can fail: memory (then `miss` is set), or the expression itself.
struct ExpressionFailure {
  std::optional<GuestVirt> unreadable;
};

// Evaluates a DWARF expression (DWARF 5, section 2.5) in the context of a frame: registers of
// `state`, memory of the capture. `cfa` is on the stack at the start, for the expressions of
// registers. Bounded to 1,000 operations.
[[nodiscard]] tl::expected<ExpressionValue, ExpressionFailure> evaluate(
    Bytes expression, const MachineState& state, const StackMemory& memory,
    std::optional<std::uint64_t> cfa, std::uint64_t load_bias, std::uint8_t address_size);

}  // namespace ringside::unwind::cfi
