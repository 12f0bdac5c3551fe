#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "elf/image_map.h"
#include "unwind/trap_frame_layout.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos {

// From one exception vector to the next (Arm ARM, D1.10.2).
inline constexpr std::uint64_t kAArch64VectorBytes = 128;

// Frames that Linux's entry code for aarch64 (arch/arm64/kernel/entry.S, 4.14 to 6.x) leaves on the
// stack: wherever it calls C code the frame pointer leads to the frame record inside a struct
// pt_regs. Elsewhere in the entry code only its instructions show it.
[[nodiscard]] std::vector<unwind::TrapFrameLayout> aarch64_entries(const elf::Image& kernel);

// kernel_ventry's test for a stack that has overflowed (arch/arm64/kernel/entry.S, 4.14 and later,
// CONFIG_VMAP_STACK), which swaps sp and x0 by sums and differences, in each vector. On the
// way from user code no stack is in use.
struct Aarch64OverflowTest {
  GuestVirt vectors;
  std::uint64_t start = 0;  // bytes from a vector to `add sp, sp, x0`
};
[[nodiscard]] std::optional<Aarch64OverflowTest> aarch64_overflow_test(const elf::Image& kernel);

// Behind copy_stacks(): meanwhile sp is no address. Copies the stack whose pointer it
// was, which ends at a multiple of `alignment`.
void copy_tested_stack(wire::RecipeBuilder& recipe, const Aarch64OverflowTest& test,
                       std::uint64_t alignment);

}  // namespace ringside::guestos
