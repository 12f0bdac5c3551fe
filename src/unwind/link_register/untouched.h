#pragma once

#include <optional>

#include "elf/image_map.h"
#include "unwind/code_unit.h"
#include "unwind/link_register/instruction.h"
#include "unwind/machine_state.h"

namespace ringside::unwind::link_register {

// The caller of a function whose instructions from its start to the pc change neither the link
// register nor the stack or frame pointer: its return address is still where the call has put it.
// For code whose exit path cannot be followed, such as a switch of threads. Nothing where one of
// them was changed. Whether the return address is one is not looked at.
[[nodiscard]] std::optional<MachineState> untouched_caller(const MachineState& state,
                                                           const elf::Image& image,
                                                           const CodeUnit& function,
                                                           const Decoder& decoder);

}  // namespace ringside::unwind::link_register
