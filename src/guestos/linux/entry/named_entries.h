#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elf/image_map.h"
#include "unwind/trap_frame_layout.h"

namespace ringside::guestos {

// The trap-frame layouts of a kernel's functions and labels, by their names: `layout` with its
// addresses filled in where `leaves_registers` says so, the end of a stack where `begins_a_stack`
// does.
[[nodiscard]] std::vector<unwind::TrapFrameLayout> named_entries(
    const elf::Image& kernel, const unwind::TrapFrameLayout& layout,
    bool (*leaves_registers)(std::string_view name), bool (*begins_a_stack)(std::string_view name));

// The last `bytes` of the entry named `name`, where a new process goes on to user mode, are
// reported as such: ret_from_fork calls what prepares that, and jumps to the code that leaves the
// kernel.
void end_in_user_mode(std::vector<unwind::TrapFrameLayout>& entries, const elf::Image& kernel,
                      const std::string& name, std::uint64_t bytes);

}  // namespace ringside::guestos
