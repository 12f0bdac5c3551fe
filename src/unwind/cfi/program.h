#pragma once

#include "base/result.h"
#include "base/types.h"
#include "unwind/cfi/section.h"
#include "unwind/rule.h"

namespace ringside::unwind::cfi {

// Runs the call-frame instructions of an FDE (DWARF 5, section 6.4.2, with GNU's
// DW_CFA_GNU_args_size and DW_CFA_GNU_negative_offset_extended) up to `pc`, an address as linked
// inside the FDE. Registers without a rule follow the psABI: callee-saved ones keep their values,
// the others are lost, and rsp is the CFA.
[[nodiscard]] Result<Rule> rule_for(const FrameSection& section, const Cie& cie, const Fde& fde,
                                    ImageAddr pc);

}  // namespace ringside::unwind::cfi
