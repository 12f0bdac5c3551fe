#pragma once

#include <variant>

#include "arch/arch_info.h"
#include "unwind/cfi/section.h"
#include "unwind/machine_state.h"
#include "unwind/rule.h"
#include "unwind/stack_memory.h"

namespace ringside::unwind {

// A walk's end.
struct Stop {
  StopReason reason;
  GuestVirt at;
  std::optional<StackLink> link = std::nullopt;
  HookedReturns hooked_returns = HookedReturns::kNone;
};

// The caller's (or interrupted code's) frame.
struct Caller {
  MachineState state = {};
  FrameSource source = FrameSource::kCfi;
  bool interrupted = false;     // an interrupt frame was crossed; the pc is exact
  bool stack_switched = false;  // the stack pointer was loaded, not computed: it may go down
  // User code, from which hardware entered the kernel: the kernel's stack ends here, and what is
  // not known of its registers is no error.
  bool is_user = false;
  bool by_system_call = false;  // of user code: the way back is one from a system call
};

using Step = std::variant<Caller, Stop>;

// Where the expressions of a rule lie.
struct RuleContext {
  const cfi::FrameSection* section = nullptr;
  std::uint64_t load_bias = 0;
  // A frame that was interrupted is user code's, by a signal, whatever its status register says.
  bool in_user_code = false;
};

// Where the frame that a rule crosses keeps the status register, from the CFA on. On x86 hardware
// pushes cs above the instruction pointer.
[[nodiscard]] std::optional<std::int64_t> saved_status(const Rule& rule,
                                                       const arch::ArchInfo& platform);

// Applies a rule to a frame. Does not judge the caller's pc and stack pointer.
[[nodiscard]] Step apply(const Rule& rule, const RuleContext& context, const MachineState& state,
                         const StackMemory& memory);

}  // namespace ringside::unwind
