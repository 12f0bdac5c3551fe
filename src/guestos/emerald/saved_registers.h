#pragma once

#include <optional>

#include "base/types.h"
#include "wire/capture.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos::emerald {

// Where a kernel saves what user code had in its registers: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8
// rax rcx rdx rsi rdi rip cs rflags rsp ss, 8 bytes each, from the lowest address. That is what an
// interrupt handler pushes on top of what the CPU has pushed (Intel SDM vol. 3, 6.14.2); Linux's
// struct pt_regs is the same, but for orig_rax.
inline constexpr std::uint64_t kSavedRegistersSize = 20 * 8;

// Copies the metadata page and, in kernel mode, the saved registers that it leads to and the user's
// stack.
void copy_process(wire::RecipeBuilder& recipe);
// The tag of the page's piece.
// No task of Linux has it: captures of an adapter that was replaced may still come.
inline constexpr std::uint16_t kMetadataTag = 0x100;

// The user's registers when it entered the kernel, for a capture in kernel mode that has copied
// them from `at`. Nothing where they are not a user's, or where the stack pointer says that the
// kernel is about to save them or has taken them back.
[[nodiscard]] std::optional<arch::Registers> saved_registers(const wire::Capture& capture,
                                                             GuestVirt at);

}  // namespace ringside::guestos::emerald
