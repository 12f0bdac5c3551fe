#pragma once

#include <memory>

#include "engines/engine.h"
#include "memory/page_walk.h"

namespace ringside::session {

// The page tables of the kernel that ran at a capture, which was in kernel mode. On aarch64 a tick
// leaves out the registers that say where they are: the engine gives them, at a later moment, when
// user code may run. With page-table isolation TTBR1_EL1 is then the root of the entry trampoline,
// and the kernel's own lies a page or two behind it; which one it is is determined by whether it
// maps the capture's pc and stack. Null where none does, or where ringside has no walk for what
// ran. Errors: those of the engine, but kUnsupported and kTimeout.
[[nodiscard]] Result<std::unique_ptr<memory::PageTables>> find_kernel_tables(
    engines::Engine& engine, const wire::Capture& capture, PhysicalMemory& physical);

}  // namespace ringside::session
