#include "guestos/linux/linux_arch.h"

#include "guestos/linux/x86/common.h"
#include "guestos/linux/x86_64/entries.h"
#include "guestos/linux/x86_64/entry_code.h"

namespace ringside::guestos {
namespace {

using namespace arch::x86_64;

// IRQ_STACK_SIZE of arch/x86/include/asm/page_64_types.h. The stacks are aligned to pages only
// (map_irq_stack() in irq_64.c).
constexpr std::string_view kIrqStacks[] = {"hardirq_stack_ptr"};

constexpr PtRegsMember kPtRegs[] = {{kRax, "ax"},  {kRdx, "dx"},  {kRcx, "cx"},       {kRbx, "bx"},
                                    {kRsi, "si"},  {kRdi, "di"},  {kRbp, "bp"},       {kRsp, "sp"},
                                    {kR8, "r8"},   {kR9, "r9"},   {kR10, "r10"},      {kR11, "r11"},
                                    {kR12, "r12"}, {kR13, "r13"}, {kR14, "r14"},      {kR15, "r15"},
                                    {kRip, "ip"},  {kCs, "cs"},   {kRflags, "flags"}, {kSs, "ss"}};

std::vector<StackTop> irq_stack_tops(const elf::Image&, GuestVirt variable) {
  return {{.slot = variable, .kind = StackTop::Kind::kPopped}};
}

// TOP_OF_KERNEL_STACK_PADDING (arch/x86/include/asm/thread_info.h): FRED pushes more.
std::uint64_t stack_padding(const elf::ElfFile& kernel, const FieldFinder&) {
  return kernel.symbol_named("asm_fred_entrypoint_user") ? 16 : 0;
}

// user_64bit_mode() in arch/x86/include/asm/ptrace.h: __USER_CS, and Xen's FLAT_USER_CS64. A
// segment of the local descriptor table has 32 or 16 bits.
Arch user_arch(const arch::Registers& registers) {
  constexpr std::uint64_t kUserCs = 0x33;
  constexpr std::uint64_t kXenUserCs = 0xe033;
  if (!registers.has(kCs)) return Arch::kX86_64;
  const std::uint64_t selector = registers.get(kCs) & 0xffff;
  return selector == kUserCs || selector == kXenUserCs ? Arch::kX86_64 : Arch::kI386;
}

}  // namespace

const LinuxArch kLinuxX86_64 = {
    .irq_stack_variables = kIrqStacks,
    .irq_stack_tops = irq_stack_tops,
    .entries = x86_64_entries,
    .is_interrupt = is_x86_interrupt,
    .entry_code = x86_64_entry_code,
    .pt_regs = kPtRegs,
    .stack_padding = stack_padding,
    .current_task = x86_current_task,
    .user_arch = user_arch,
    .may_hide_user_memory = false,  // QEMU does not look at CR4.SMAP
};

}  // namespace ringside::guestos
