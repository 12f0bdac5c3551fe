#include "guestos/linux/linux_arch.h"

#include <algorithm>

#include "guestos/linux/riscv64/entries.h"
#include "guestos/linux/riscv64/entry_code.h"

namespace ringside::guestos {
namespace {

using namespace arch::riscv64;

constexpr std::uint64_t kIrqStackSize = 16 * 1024;  // arch/riscv/include/asm/thread_info.h
constexpr std::string_view kIrqStacks[] = {"irq_stack_ptr"};

constexpr PtRegsMember kPtRegs[] = {
    {1, "ra"},  {2, "sp"},  {3, "gp"},  {4, "tp"},    {5, "t0"},           {6, "t1"},   {7, "t2"},
    {8, "s0"},  {9, "s1"},  {10, "a0"}, {11, "a1"},   {12, "a2"},          {13, "a3"},  {14, "a4"},
    {15, "a5"}, {16, "a6"}, {17, "a7"}, {18, "s2"},   {19, "s3"},          {20, "s4"},  {21, "s5"},
    {22, "s6"}, {23, "s7"}, {24, "s8"}, {25, "s9"},   {26, "s10"},         {27, "s11"}, {28, "t3"},
    {29, "t4"}, {30, "t5"}, {31, "t6"}, {kPc, "epc"}, {kSstatus, "status"}};

// The variable holds the stack's lowest address. call_on_irq_stack calls a function with the stack
// pointer at the other end (arch/riscv/kernel/entry.S, 6.7 and later), which saves the frame
// pointer two words below. Before it has, and after it has restored it, the stack is empty.
std::vector<StackTop> irq_stack_tops(const elf::Image&, GuestVirt variable) {
  const GuestVirt end = variable + kIrqStackSize;
  return {{.slot = end - 16, .kind = StackTop::Kind::kRecord},
          {.slot = end, .kind = StackTop::Kind::kEmpty}};
}

void copy_stacks(wire::RecipeBuilder& recipe, const elf::Image& kernel, std::uint64_t alignment) {
  if (const auto offset = riscv64_saved_sp(kernel)) copy_saved_stack(recipe, *offset, alignment);
}

// Whether handle_exception calls the function for an interrupt: do_irq (arch/riscv/kernel/traps.c,
// 6.5 and later), before that generic_handle_arch_irq (kernel/irq/handle.c, 5.18) or the
// controller's handler.
bool is_interrupt(std::string_view symbol) {
  constexpr std::string_view kNames[] = {"do_irq", "handle_riscv_irq", "generic_handle_arch_irq",
                                         "riscv_intc_irq"};
  return std::find(std::begin(kNames), std::end(kNames), symbol) != std::end(kNames);
}

std::unique_ptr<EntryCode> entry_code(const elf::Image& kernel, const UserRegisters& pt_regs,
                                      const TypeSource&) {
  return riscv64_entry_code(kernel, pt_regs);
}

std::optional<ImageAddr> current_task(const elf::ElfFile& kernel, const TypeSource& types) {
  return member_of_variable(kernel, types, "runqueues", "rq", "curr");
}

}  // namespace

const LinuxArch kLinuxRiscv64 = {
    .irq_stack_size = kIrqStackSize,
    .irq_stack_variables = kIrqStacks,
    .irq_stack_tops = irq_stack_tops,
    .aligns_stacks = true,  // THREAD_ALIGN in arch/riscv/include/asm/thread_info.h of 6.1
    .copy_stacks_of_entry_code = copy_stacks,
    .entries = riscv64_entries,
    .is_interrupt = is_interrupt,
    .entry_code = entry_code,
    .pt_regs = kPtRegs,
    .pt_regs_alignment = 16,  // its stack pointer is kept aligned
    .current_task = current_task,
    .current_register = kTp,
};

}  // namespace ringside::guestos
