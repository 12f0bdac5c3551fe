#include "unwind/frame_pointer.h"

#include "arch/arch_info.h"

namespace ringside::unwind {

Rule frame_pointer_rule(const arch::ArchInfo& platform) {
  using Kind = RegisterRule::Kind;
  const arch::RegisterRoles& roles = platform.roles;
  const std::int64_t word = roles.pointer_size;
  const arch::FrameRecord& record = platform.frame_record;
  Rule rule{.cfa = {.kind = CfaRule::Kind::kRegisterOffset, .reg = roles.fp},
            .return_register = roles.pc,
            .source = FrameSource::kFramePointer};
  // Where the caller's stack pointer is not there to see, the frame pointer does for the CFA.
  if (record.caller_sp) {
    rule.cfa.offset = *record.caller_sp * word;
    rule.registers[roles.sp] = {.kind = Kind::kValOffset};
  }
  const std::int64_t saved_fp = record.from_fp * word - rule.cfa.offset;
  const std::int64_t saved_pc = saved_fp + word;
  rule.registers[roles.pc] = {.kind = Kind::kOffset, .offset = saved_pc};
  rule.registers[roles.fp] = {.kind = Kind::kOffset, .offset = saved_fp};
  return rule;
}

CodeRule FramePointerStepper::rule_at(const elf::Image&, GuestVirt) { return {}; }

Step FramePointerStepper::step(const elf::Image*, const CodeRule&, const MachineState& state,
                               const MachineState&, const StackMemory& memory) {
  const arch::RegisterRoles& roles = state.platform->roles;
  if (!state.has(roles.fp)) return Stop{StopReason::kLostRegister, state.pc()};
  const std::uint64_t fp = state.get(roles.fp);
  if (fp == 0 && !state.exact) return Stop{StopReason::kEndOfStack, state.pc()};
  if (fp % roles.pointer_size != 0) return Stop{StopReason::kNoRule, state.pc()};
  return apply(frame_pointer_rule(*state.platform), {}, state, memory);
}

}  // namespace ringside::unwind
