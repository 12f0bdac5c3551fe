#include "unwind/entry_layout.h"

namespace ringside::unwind {

Rule rule_of(const EntryLayout& layout, const Platform& platform) {
  Rule rule{.cfa = {.kind = CfaRule::Kind::kRegisterOffset,
                    .reg = layout.base == EntryLayout::Base::kStackPointer ? platform.roles.sp
                                                                           : platform.roles.fp,
                    .offset = layout.base_offset},
            .return_register = platform.roles.pc,
            .signal_frame = true,
            .source = FrameSource::kInterruptFrame,
            .ends = layout.ends};
  for (std::size_t reg = 0; reg < kTrackedRegisters; ++reg)
    if (layout.frame.saves(reg))
      rule.registers[reg] = {.kind = RegisterRule::Kind::kOffset,
                             .offset = layout.frame.offsets[reg]};
  if (layout.frame.saves(platform.status))
    rule.status_offset = layout.frame.offsets[platform.status];
  return rule;
}

}  // namespace ringside::unwind
