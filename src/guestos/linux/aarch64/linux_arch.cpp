#include "guestos/linux/linux_arch.h"

#include <algorithm>

#include "guestos/linux/aarch64/entries.h"
#include "guestos/linux/aarch64/entry_code.h"
#include "guestos/linux/aarch64/irq_stack.h"
#include "guestos/linux/aarch64/trampoline.h"

namespace ringside::guestos {
namespace {

using namespace arch::aarch64;

constexpr std::uint64_t kIrqStackSize = 16 * 1024;  // arch/arm64/include/asm/memory.h
constexpr std::string_view kIrqStacks[] = {"irq_stack_ptr"};

constexpr PtRegsMember kPtRegs[] = {{kSp, "sp"}, {kPc, "pc"}, {kCpsr, "pstate"}};

// The variable holds the stack's lowest address. Where the frame record of the first function lies
// depends on that function: EndRecord, or it is learnt.
std::vector<StackTop> irq_stack_tops(const elf::Image& kernel, GuestVirt variable) {
  const GuestVirt end = variable + kIrqStackSize;
  std::vector<StackTop> tops = {{.slot = end, .kind = StackTop::Kind::kEmpty}};
  for (const EndRecord& record : aarch64_irq_stack_records(kernel))
    tops.push_back({.slot = end - record.below_end, .returns_to = record.returns_to});
  return tops;
}

void copy_stacks(wire::RecipeBuilder& recipe, const elf::Image& kernel, std::uint64_t alignment) {
  if (const auto test = aarch64_overflow_test(kernel)) copy_tested_stack(recipe, *test, alignment);
}

// arch/arm64/kernel/entry.S: el1h_64_irq and its like from 5.14 on, the others before.
bool is_interrupt(std::string_view symbol) {
  constexpr std::string_view kNames[] = {
      "el1t_64_irq", "el1t_64_fiq", "el1h_64_irq", "el1h_64_fiq", "el0t_64_irq",   "el0t_64_fiq",
      "el0t_32_irq", "el0t_32_fiq", "el1_irq",     "el0_irq",     "el0_irq_compat"};
  return std::find(std::begin(kNames), std::end(kNames), symbol) != std::end(kNames);
}

std::unique_ptr<EntryCode> entry_code(const elf::Image& kernel, const UserRegisters& pt_regs,
                                      const TypeSource&) {
  return aarch64_entry_code(kernel, pt_regs);
}

std::optional<ImageAddr> current_task(const elf::ElfFile& kernel, const TypeSource&) {
  return aarch64_entry_task(kernel);
}

// PSTATE.nRW; as SPSR_EL1.M[4] saves it (Arm Architecture Reference Manual, C5.2.18).
Arch user_arch(const arch::Registers& registers) {
  constexpr std::uint64_t kAArch32 = 0x10;
  const bool is_32_bit = registers.has(kCpsr) && (registers.get(kCpsr) & kAArch32) != 0;
  return is_32_bit ? Arch::kUnknown : Arch::kAArch64;
}

}  // namespace

const LinuxArch kLinuxAArch64 = {
    .irq_stack_size = kIrqStackSize,
    .irq_stack_variables = kIrqStacks,
    .irq_stack_tops = irq_stack_tops,
    .unknown_irq_stacks = aarch64_unknown_irq_stacks,
    .aligns_stacks = true,  // THREAD_ALIGN in arch/arm64/include/asm/memory.h of 6.1
    .copy_stacks_of_entry_code = copy_stacks,
    .entries = aarch64_entries,
    .is_interrupt = is_interrupt,
    .entry_code = entry_code,
    .fixed_code = trampoline_image,
    .pt_regs = kPtRegs,
    .x_registers = kLr + 1,
    .current_task = current_task,
    .per_cpu_offset = kTpidrEl1,
    .current_register = kSpEl0,
    .user_arch = user_arch,
};

}  // namespace ringside::guestos
