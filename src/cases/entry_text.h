#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "unwind/trap_frame_layout.h"

// A guest-OS adapter's trap-frame layouts as text:
//
//     layout 1 sp+0 r15=0 r14=8 …      # where registers lie, from sp or fp and an offset
//     layout 2 sp+0 ebx=0 ecx=4 … calls  # only where the code calls others
//     layout 3 sp+16 caller overrides  # TrapFrameLayout's other fields, by name
//     0xffffffff81a00ae0 0xffffffff81a00b00 1
//     0xffffffff81001b40 0xffffffff81001b70 ends
namespace ringside::cases {

[[nodiscard]] std::string entries_text(std::span<const unwind::TrapFrameLayout> entries, Arch arch);
// Errors name `name` and the line.
[[nodiscard]] Result<std::vector<unwind::TrapFrameLayout>> parse_entries(std::string_view text,
                                                                         Arch arch,
                                                                         const std::string& name);

}  // namespace ringside::cases
