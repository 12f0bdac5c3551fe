#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "elf/image_map.h"
#include "guestos/linux/entry/entry_code.h"
#include "guestos/linux/types/type_source.h"

namespace ringside::guestos {

// arch/x86/include/asm/idtentry.h (5.8 and later): asm_NAME is the assembly that calls NAME; on
// i386 handle_exception does that for it (entry_32.S). irq_entries_start are the vectors' stubs.
[[nodiscard]] bool is_x86_interrupt(std::string_view symbol);

// current_task, in pcpu_hot from 6.2 to 6.14.
[[nodiscard]] std::optional<ImageAddr> x86_current_task(const elf::ElfFile& kernel,
                                                        const TypeSource& types);

// The place that 32-bit x86 system calls return to, in bytes from the vDSO's start, by the kernel's
// struct vdso_image.
[[nodiscard]] std::optional<std::uint32_t> x86_landing_pad(const elf::ElfFile& kernel,
                                                           const TypeSource& types);

// x86 code from the symbol `name` to the first one behind it that begins with none of `labels`;
// `calls` is the C function. Empty where that is not found.
[[nodiscard]] EntryFunction x86_entry_function(const elf::Image& kernel, std::string_view name,
                                               std::span<const std::string_view> labels,
                                               std::string_view calls);

// x86's stack for hardware to enter on is a page by itself (struct entry_stack, asm/processor.h),
// if the kernel's types give it that size.
inline constexpr std::uint64_t kX86EntryStack = 4096;  // bytes
[[nodiscard]] inline bool has_x86_entry_stack(const TypeSource& types) {
  return types.size_of("entry_stack") == kX86EntryStack;
}
[[nodiscard]] constexpr GuestVirt end_of_x86_entry_stack(GuestVirt sp) {
  return {((sp.value - 1) | (kX86EntryStack - 1)) + 1};
}

}  // namespace ringside::guestos
