#include "unwind/frame_pointer.h"

namespace ringside::unwind {

Rule frame_pointer_rule(const Platform& platform) {
  using Kind = RegisterRule::Kind;
  const wire::RegisterRoles& roles = platform.roles;
  const std::int64_t word = roles.pointer_size;
  Rule rule{.cfa = {.kind = CfaRule::Kind::kRegisterOffset, .reg = roles.fp},
            .return_register = roles.pc,
            .source = FrameSource::kFramePointer};
  std::int64_t saved_fp = 0;
  std::int64_t saved_pc = 0;
  switch (platform.arch) {
    case Arch::kAArch64:  // AAPCS64, 6.4.6: fp points to {fp, lr}
      saved_pc = word;
      break;
    case Arch::kRiscv64:  // psABI, "Frame Pointer Convention": fp is the CFA, above {fp, ra}
      saved_pc = -word;
      saved_fp = -2 * word;
      rule.registers[roles.sp] = {.kind = Kind::kValOffset};
      break;
    default:  // push %ebp; mov %esp, %ebp
      rule.cfa.offset = 2 * word;
      saved_pc = -word;
      saved_fp = -2 * word;
      rule.registers[roles.sp] = {.kind = Kind::kValOffset};
  }
  rule.registers[roles.pc] = {.kind = Kind::kOffset, .offset = saved_pc};
  rule.registers[roles.fp] = {.kind = Kind::kOffset, .offset = saved_fp};
  return rule;
}

CodeRule FramePointerStepper::rule_at(const elf::Image&, GuestVirt) { return {}; }

Step FramePointerStepper::step(const elf::Image*, const CodeRule&, const MachineState& state,
                               const MachineState&, const StackMemory& memory) {
  const wire::RegisterRoles& roles = state.platform->roles;
  if (!state.has(roles.fp)) return Stop{StopReason::kLostRegister, state.pc()};
  const std::uint64_t fp = state.get(roles.fp);
  if (fp == 0 && !state.exact) return Stop{StopReason::kEndOfStack, state.pc()};
  if (fp % roles.pointer_size != 0) return Stop{StopReason::kNoRule, state.pc()};
  return apply(frame_pointer_rule(*state.platform), {}, state, memory);
}

}  // namespace ringside::unwind
