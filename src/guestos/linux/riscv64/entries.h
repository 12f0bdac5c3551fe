#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "elf/image_map.h"
#include "unwind/trap_frame_layout.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos {

// Frames that Linux's entry code for riscv64 (arch/riscv/kernel/entry.S, 4.15 to 6.12) leaves on
// the stack: a struct pt_regs at the stack pointer wherever it calls C code. Elsewhere in the entry
// code only its instructions show it.
[[nodiscard]] std::vector<unwind::TrapFrameLayout> riscv64_entries(const elf::Image& kernel);

// Where handle_exception keeps the stack pointer while it tests the stack for an overflow
// (CONFIG_VMAP_STACK): bytes from the task that tp points to, by its first `sd sp, …(tp)`.
[[nodiscard]] std::optional<std::uint64_t> riscv64_saved_sp(const elf::Image& kernel);

// Behind copy_stacks(): meanwhile sp is no address. Copies the word at that `offset`
// from tp, and the stack that it points to, which ends at a multiple of `alignment`.
void copy_saved_stack(wire::RecipeBuilder& recipe, std::uint64_t offset, std::uint64_t alignment);

}  // namespace ringside::guestos
