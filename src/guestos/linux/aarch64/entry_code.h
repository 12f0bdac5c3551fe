#pragma once

#include <memory>
#include <optional>

#include "guestos/linux/entry/entry_code.h"

namespace ringside::guestos {

// The per-CPU variable with the task whose user code a CPU runs, which entry code loads before it
// has any other: __entry_task, arch/arm64/kernel/process.c. Without that symbol the code of
// el0t_64_sync shows where it is.
[[nodiscard]] std::optional<ImageAddr> aarch64_entry_task(const elf::ElfFile& kernel);

[[nodiscard]] std::unique_ptr<EntryCode> aarch64_entry_code(const elf::Image& kernel,
                                                            const UserRegisters& pt_regs);

}  // namespace ringside::guestos
