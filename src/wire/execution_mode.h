#pragma once

#include <optional>

#include "base/types.h"
#include "wire/registers.h"

namespace ringside::wire {

// Who runs on a vCPU with these registers, by its mode alone. kFirmware is
//   x86: before paging is on (BIOS, boot loader, the first instructions of a kernel);
//   aarch64: EL2 and EL3;
//   riscv64: machine mode (OpenSBI).
// A kernel may run there, too: whoever knows its code says so (session/kernel_level.h).
// kUnknown where the registers that say so were not read, and for AArch32 above EL0.
[[nodiscard]] PrivilegeLevel privilege_level_of(Arch arch, const Registers& registers);

// The level that runs, as the architecture numbers it: aarch64's exception level, riscv64's mode (0
// user, 1 supervisor, 3 machine). Nothing where it was not read, in AArch32, and on x86.
[[nodiscard]] std::optional<std::uint8_t> running_level(Arch arch, const Registers& registers);

// x86_64's registers as 32-bit code sees them: their low halves, by i386's numbers.
[[nodiscard]] Registers low_halves(const Registers& x86_64);

// An x86_64 stub also runs 32-bit systems: paging is on and EFER.LMA is off (AMD64 Architecture
// Programmer's Manual, volume 2, section 14.6). Then these are the registers by i386's numbers;
// nothing for a 64-bit system, whose 32-bit programs are its user code, and before paging is on.
[[nodiscard]] std::optional<Registers> as_i386(const Registers& x86_64);

}  // namespace ringside::wire
