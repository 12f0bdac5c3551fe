#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "elf/image_map.h"
#include "guestos/linux/entry/entry_code.h"
#include "guestos/linux/types/field_finder.h"
#include "guestos/stack_recipe.h"
#include "unwind/trap_frame_layout.h"

namespace ringside::guestos {

// A member of struct pt_regs (arch/*/include/asm/ptrace.h) that holds one register.
struct PtRegsMember {
  std::uint8_t reg;
  std::string_view name;
};

// Linux's own part on one architecture: one constant each, in NAME/linux_arch.cpp. Pointers are
// null and fields empty where the architecture has no such thing.
struct LinuxArch {
  // Bytes of an interrupt stack.
  std::uint64_t irq_stack_size = 16 * 1024;
  // Per-CPU variables that point to one, the innermost stack first.
  std::span<const std::string_view> irq_stack_variables = {};
  // Finds the stack that was left, on the one that such a variable points to.
  std::vector<StackTop> (*irq_stack_tops)(const elf::Image& kernel, GuestVirt variable) = nullptr;
  // Finds the stack that was left where the kernel's symbols have no such variable.
  UnknownStacks (*unknown_irq_stacks)(const elf::Image& kernel) = nullptr;
  // The stacks of threads and of interrupts end at multiples of their size: they are aligned to
  // twice that.
  bool aligns_stacks = false;
  // Behind copy_stacks(), in the same recipe: stacks that entry code moves or tests, and is on
  // meanwhile.
  void (*copy_stacks_of_entry_code)(wire::RecipeBuilder& recipe, const elf::Image& kernel,
                                    std::uint64_t alignment) = nullptr;

  // Frames that entry code leaves on the stack.
  std::vector<unwind::TrapFrameLayout> (*entries)(const elf::Image& kernel) = nullptr;
  // Whether hardware enters at this symbol for an interrupt.
  bool (*is_interrupt)(std::string_view symbol) = nullptr;
  // User code's registers while entry code runs.
  std::unique_ptr<EntryCode> (*entry_code)(const elf::Image& kernel, const UserRegisters& pt_regs,
                                           const TypeSource& types) = nullptr;
  // Code of the kernel's that is mapped a second time, at a fixed address.
  std::optional<elf::Image> (*fixed_code)(const elf::ElfFile& kernel) = nullptr;

  // struct pt_regs; `x_registers` where an array has the first general ones, by their numbers.
  std::span<const PtRegsMember> pt_regs = {};
  std::uint8_t x_registers = 0;
  // task_pt_regs() (arch/*/include/asm/processor.h): bytes that pt_regs is aligned to, and those
  // between it and the end of the stack.
  std::uint64_t pt_regs_alignment = 1;
  std::uint64_t (*stack_padding)(const elf::ElfFile& kernel, const FieldFinder& find) = nullptr;

  // The per-CPU variable that points to the current task.
  std::optional<ImageAddr> (*current_task)(const elf::ElfFile& kernel,
                                           const TypeSource& types) = nullptr;
  // The register that says how far a CPU's own copy of a variable is from the boot image's. Without
  // it that is read.
  std::optional<std::uint8_t> per_cpu_offset = std::nullopt;
  // The register that has the current task in kernel mode (arch/*/include/asm/current.h).
  std::optional<std::uint8_t> current_register = std::nullopt;
  // The architecture of the user code that has these registers; kUnknown if ringside knows none.
  Arch (*user_arch)(const arch::Registers& registers) = nullptr;
  // QEMU's stub may read less in kernel mode than page tables map for it.
  bool may_hide_user_memory = true;
};

extern const LinuxArch kLinuxX86_64;
extern const LinuxArch kLinuxI386;
extern const LinuxArch kLinuxAArch64;
extern const LinuxArch kLinuxRiscv64;

// Null for an architecture that is not known.
[[nodiscard]] const LinuxArch* find_linux_arch(Arch arch);

// The address of a member of a symbol's variable. Nothing where either is missing.
[[nodiscard]] std::optional<ImageAddr> member_of_variable(const elf::ElfFile& kernel,
                                                          const TypeSource& types,
                                                          const char* symbol, const char* type,
                                                          const char* member);

}  // namespace ringside::guestos
