#pragma once

#include <optional>

#include "arch/registers.h"
#include "base/types.h"

namespace ringside::arch {

// By the numbers of CR0 and CS: firmware before paging is on, else the code segment's privilege
// level (Intel SDM volume 3, 5.5).
[[nodiscard]] PrivilegeLevel x86_level(const Registers& registers, std::uint8_t cr0,
                                       std::uint8_t cs);

// x86_64's registers as 32-bit code sees them: their low halves, by i386's numbers.
[[nodiscard]] Registers low_halves(const Registers& x86_64);

// An x86_64 stub also runs 32-bit systems: paging is on and EFER.LMA is off (AMD64 Architecture
// Programmer's Manual, volume 2, section 14.6). Then these are the registers by i386's numbers;
// nothing for a 64-bit system, whose 32-bit programs are its user code, and before paging is on.
[[nodiscard]] std::optional<Registers> as_i386(const Registers& x86_64);

}  // namespace ringside::arch
