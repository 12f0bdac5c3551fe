#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "arch/registers.h"
#include "memory/page_walk.h"

namespace ringside::memory {

// The tables that a vCPU uses, by its registers (of `arch`'s numbers): also those of a 32-bit
// system on an x86_64 machine. Null where a register that says so was not read, where paging is off
// (x86), or where the vCPU is at a level that they do not belong to (aarch64's EL2 and EL3).
[[nodiscard]] std::unique_ptr<PageTables> page_tables_of(Arch arch,
                                                         const arch::Registers& registers);

// The registers of `arch` that say how addresses are translated, all of them: with one less,
// page_tables_of() may take for granted what usually holds.
[[nodiscard]] std::span<const std::uint8_t> registers_of_walks(Arch arch);

}  // namespace ringside::memory
