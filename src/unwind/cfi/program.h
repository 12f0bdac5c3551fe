#pragma once

#include <functional>

#include "arch/arch_info.h"
#include "base/result.h"
#include "base/types.h"
#include "unwind/cfi/section.h"
#include "unwind/rule.h"

namespace ringside::unwind::cfi {

// Runs the call-frame instructions of an FDE (DWARF 5, section 6.4.2, with GNU's
// DW_CFA_GNU_args_size and DW_CFA_GNU_negative_offset_extended, and AArch64's
// DW_CFA_AARCH64_negate_ra_state) up to `pc`, an address as linked inside the FDE. Registers
// without a rule follow the platform's psABI: callee-saved ones and the link register keep their
// values, the others are lost, and the stack pointer is the CFA.
[[nodiscard]] Result<Rule> rule_for(const FrameSection& section, const Cie& cie, const Fde& fde,
                                    ImageAddr pc, const arch::ArchInfo& platform);

// Calls `row` with the first address of each row of an FDE's table and its rule, in order. An error
// leaves the rows before it.
[[nodiscard]] Result<void> for_each_row(const FrameSection& section, const Cie& cie, const Fde& fde,
                                        const arch::ArchInfo& platform,
                                        const std::function<void(ImageAddr, const Rule&)>& row);

}  // namespace ringside::unwind::cfi
