#include "unwind/trap_frame_layout.h"

#include "arch/arch_info.h"

namespace ringside::unwind {

using Below = TrapFrameLayout::Below;

Rule rule_of(const TrapFrameLayout& layout, const arch::ArchInfo& platform) {
  Rule rule{.cfa = {.kind = CfaRule::Kind::kRegisterOffset,
                    .reg = layout.base == TrapFrameLayout::Base::kStackPointer ? platform.roles.sp
                                                                               : platform.roles.fp,
                    .offset = layout.base_offset},
            .return_register = platform.roles.pc,
            .signal_frame = layout.below == Below::kInterrupted,
            .source = FrameSource::kInterruptFrame,
            .ends = layout.below == Below::kNothing || layout.below == Below::kUser,
            .from_user = layout.below == Below::kUser};
  if (layout.skips_own_words) rule.own_code = {layout.start, layout.end - layout.start};
  if (layout.below == Below::kCaller || layout.keeps_registers)
    for (RegisterRule& reg : rule.registers) reg.kind = RegisterRule::Kind::kSame;
  if (layout.below == Below::kCaller) {
    rule.registers[platform.roles.sp] = {.kind = RegisterRule::Kind::kValOffset};
    RegisterRule& pc = rule.registers[platform.roles.pc];
    pc = {.kind = RegisterRule::Kind::kOffset, .offset = -platform.roles.pointer_size};
    if (layout.return_in != arch::RegisterRoles::kNone)
      pc = {.kind = RegisterRule::Kind::kRegister, .reg = layout.return_in};
  }
  for (std::size_t reg = 0; reg < kTrackedRegisters; ++reg)
    if (layout.frame.saves(reg))
      rule.registers[reg] = {.kind = RegisterRule::Kind::kOffset,
                             .offset = layout.frame.offsets[reg]};
  if (layout.frame.saves(platform.saved_mode.reg))
    rule.status_offset = layout.frame.offsets[platform.saved_mode.reg];
  return rule;
}

}  // namespace ringside::unwind
