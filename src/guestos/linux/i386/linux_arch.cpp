#include "guestos/linux/linux_arch.h"

#include "guestos/linux/i386/entries.h"
#include "guestos/linux/i386/entry_code.h"
#include "guestos/linux/x86/common.h"

namespace ringside::guestos {
namespace {

using namespace arch::i386;

// A hard interrupt may come on the stack of soft ones.
constexpr std::string_view kIrqStacks[] = {"hardirq_stack_ptr", "softirq_stack_ptr"};

constexpr PtRegsMember kPtRegs[] = {{kEax, "ax"}, {kEcx, "cx"}, {kEdx, "dx"},       {kEbx, "bx"},
                                    {kEsp, "sp"}, {kEbp, "bp"}, {kEsi, "si"},       {kEdi, "di"},
                                    {kEip, "ip"}, {kCs, "cs"},  {kEflags, "flags"}, {kSs, "ss"}};

// The variable holds the stack's lowest address.
std::vector<StackTop> irq_stack_tops(const elf::Image&, GuestVirt variable) {
  return {{.slot = variable, .kind = StackTop::Kind::kBottom}};
}

void copy_stacks(wire::RecipeBuilder& recipe, const elf::Image&, std::uint64_t) {
  copy_frame_in_transit(recipe);
}

// TOP_OF_KERNEL_STACK_PADDING (arch/x86/include/asm/thread_info.h): room for what the hardware
// pushes before the stack is switched.
std::uint64_t stack_padding(const elf::ElfFile&, const FieldFinder& find) {
  return find.maybe("thread_struct", {"vm86"}) ? 16 : 8;
}

}  // namespace

const LinuxArch kLinuxI386 = {
    .irq_stack_size = 8 * 1024,  // THREAD_SIZE of arch/x86/include/asm/page_32_types.h
    .irq_stack_variables = kIrqStacks,
    .irq_stack_tops = irq_stack_tops,
    .copy_stacks_of_entry_code = copy_stacks,
    .entries = i386_entries,
    .is_interrupt = is_x86_interrupt,
    .entry_code = i386_entry_code,
    .pt_regs = kPtRegs,
    .stack_padding = stack_padding,
    .current_task = x86_current_task,
};

}  // namespace ringside::guestos
