#pragma once

#include <optional>

#include "arch/arch_info.h"
#include "elf/elf_file.h"
#include "unwind/pc_kind.h"
#include "unwind/rule.h"

namespace ringside::unwind::x86 {

// The rule from Linux' signal frame to the code that the signal has interrupted, at the code that
// a signal handler returns to; nothing elsewhere. It is known by its bytes, as gdb does: of some C
// libraries (musl) call-frame information says nothing of it, and a return address there is its
// first byte, so that the one before, by which rules are looked up, is none of its own. Behind its
// system call another function may begin: only a thread that is in the system call is here still.
[[nodiscard]] std::optional<Rule> signal_return_rule(const elf::ElfFile& file, ImageAddr pc,
                                                     PcKind kind, const arch::ArchInfo& platform);

}  // namespace ringside::unwind::x86
