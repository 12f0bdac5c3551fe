#pragma once

#include <string_view>
#include <vector>

#include "elf/image_map.h"
#include "unwind/entry_layout.h"

namespace ringside::guestos {

// The entry layouts of a kernel's functions and labels, by their names: `layout` with its addresses
// filled in where `leaves_registers` says so, the end of a stack where `begins_a_stack` does.
[[nodiscard]] std::vector<unwind::EntryLayout> named_entries(
    const elf::Image& kernel, const unwind::EntryLayout& layout,
    bool (*leaves_registers)(std::string_view name), bool (*begins_a_stack)(std::string_view name));

}  // namespace ringside::guestos
