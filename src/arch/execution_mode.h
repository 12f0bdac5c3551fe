#pragma once

#include <optional>

#include "arch/registers.h"
#include "base/types.h"

namespace ringside::arch {

// Who runs on a vCPU with these registers, by its mode alone. kFirmware is
//   x86: before paging is on (BIOS, boot loader, the first instructions of a kernel);
//   aarch64: EL2 and EL3;
//   riscv64: machine mode (OpenSBI).
// A kernel may run there, too: its code decides that (session/kernel/kernel_level.h).
// kUnknown where the registers that show the mode were not read, and for AArch32 above EL0.
[[nodiscard]] PrivilegeLevel privilege_level_of(Arch arch, const Registers& registers);

// The level that runs, as the architecture numbers it: aarch64's exception level, riscv64's mode (0
// user, 1 supervisor, 3 machine). Nothing where it was not read, in AArch32, and on x86.
[[nodiscard]] std::optional<std::uint8_t> running_level(Arch arch, const Registers& registers);

// The root of the page tables that translate user addresses: physical, without the bits that say
// which process's translations are cached (PCID, ASID) or how. Nothing where the register was not
// read.
[[nodiscard]] std::optional<std::uint64_t> user_root(Arch arch, const Registers& registers);

// The registers of a vCPU that uses another root for user addresses.
[[nodiscard]] Registers with_user_root(Arch arch, Registers registers, GuestPhys root);

}  // namespace ringside::arch
