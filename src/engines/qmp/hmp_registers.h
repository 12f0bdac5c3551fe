#pragma once

#include <string_view>
#include <vector>

#include "arch/registers.h"
#include "base/types.h"

namespace ringside::engines::qmp {

// A vCPU as the human monitor prints it.
struct PrintedVcpu {
  VcpuId vcpu;
  arch::Registers registers;  // by the machine's numbers, also where a 32-bit system runs
  bool halted = false;        // x86 only: the others print nothing of the kind
};

// Reads the answer to `info registers -a` (target/*/cpu-dump.c or cpu.c of QEMU 7.2 and 10.0),
// whose words are names and values in no fixed columns. Words that it does not recognize are passed
// over.
//
// The text lacks: on x86_64 KERNEL_GS_BASE; on aarch64 all system registers (SP_EL0, TTBR0_EL1,
// ELR_EL1, SPSR_EL1 …); on riscv64 the privilege mode, which is determined by the pc: the upper
// half of the addresses, and what lies within 64 MiB of the supervisor's trap vector (stvec), is
// the supervisor's; what lies within 2 MiB of the machine's (mtvec), if that is nearer, runs in
// machine mode; all else is user code, or machine mode's where there are no page tables.
[[nodiscard]] std::vector<PrintedVcpu> parse_info_registers(Arch arch, std::string_view text);

}  // namespace ringside::engines::qmp
