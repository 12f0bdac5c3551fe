#pragma once

#include <optional>

#include "arch/registers.h"
#include "base/types.h"

namespace ringside::unwind {

// How user code entered the kernel, by what the kernel's stack and its way back to user code say.
struct UserEntry {
  // User code's registers, as far as they were determined: the pc and the stack pointer, and those
  // that a called function keeps.
  arch::Registers registers = {};
  std::optional<GuestVirt> sp_slot = {};  // where the kernel's stack holds the stack pointer
  // That, or where the pc lies: it stands for the stack. Nothing where both are in registers.
  std::optional<GuestVirt> slot = {};
  std::optional<GuestVirt> pc_slot = {};  // where the pc lies; nothing where a register has it
  // The stack pointer of the kernel's frame at which the walk has ended.
  std::optional<GuestVirt> kernel_sp = {};
  bool by_system_call = false;  // the kernel will go back as from one: sysret, sysexit
  bool truncated = false;       // the rest lies behind the bytes that were copied
};

}  // namespace ringside::unwind
