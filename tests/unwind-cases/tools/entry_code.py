"""Rules for stacks from the source of Linux's entry code, class by class: README.md has the table. Nothing of this comes
from ringside."""
from unwind_case import POINTER

# x86_64: arch/x86/entry/entry_64.S and entry_64_compat.S. Assembly made by the idtentry macros calls C with the
# stack pointer at struct pt_regs; so do the system-call entries.
X86_ENTRIES = ("asm_", "entry_SYSCALL_64", "entry_SYSENTER_compat", "entry_SYSCALL_compat", "entry_INT80_compat")
# Reached from user mode only, or on the way back to it: what the kernel's tables call the end of the stack there.
X86_USER_ENTRIES = ("entry_SYSCALL_64", "entry_SYSRETQ", "syscall_return_via_sysret", "entry_SYSENTER", "entry_SYSCALL",
                    "common_interrupt_return", "swapgs_restore_regs_and_return_to_usermode", "native_irq_return_iret",
                    "native_iret")
# Assembly of which gdb has no call-frame information: its own guesses are not worth anything there.
X86_ASSEMBLY = X86_ENTRIES + ("error_entry", "error_return", "common_interrupt_return", "paranoid_", "restore_regs_and",
                              "swapgs_restore", "native_irq_return", "native_iret", "__switch_to_asm", "ret_from_fork",
                              "__x86_", "irq_entries_start", "syscall_return", "entry_")
BEGINS = {"x86_64": ("ret_from_fork", "secondary_startup_64", "start_cpu0", "startup_64"),
          "i386": ("ret_from_fork", "startup_32_smp", "is386", ".Ldefault_entry"),
          "aarch64": ("ret_from_fork", "__secondary_switched", "__primary_switched"),
          "riscv64": ("ret_from_fork", "secondary_start_common", "_start_kernel", "ret_from_fork_kernel_asm")}
# arm64: arch/arm64/kernel/entry.S, kernel_entry and entry_handler: "mov x0, sp; bl el1h_64_irq_handler". Those have a
# name with "_handler", they are C.
ARM64_ENTRIES = tuple(f"el{mode}_{kind}" for mode in ("1t_64", "1h_64", "0t_64", "0t_32")
                      for kind in ("sync", "irq", "fiq", "error"))
ARM64_USER_ENTRIES = tuple(name for name in ARM64_ENTRIES if name.startswith("el0")) + (
    "ret_to_user", "tramp_vectors", "tramp_exit")
# riscv: arch/riscv/kernel/entry.S, handle_exception calls C with pt_regs at sp.
# i386: arch/x86/entry/entry_32.S: "movl %esp, %eax; call".
ENTRIES = {"x86_64": X86_ENTRIES, "aarch64": ARM64_ENTRIES,
           "riscv64": ("handle_exception", "ret_from_exception"),
           "i386": ("asm_", "entry_INT80_32", "entry_SYSENTER_32", "handle_exception",
                    "asm_common_interrupt", "asm_exc_", "asm_sysvec_")}
NO_RULE = {"x86_64": X86_ASSEMBLY,
           "aarch64": ARM64_ENTRIES + ("vectors", "tramp_vectors", "tramp_exit", "ret_to_user", "ret_to_kernel",
                                       "cpu_switch_to", "call_on_irq_stack", "ret_from_fork"),
           "riscv64": ("handle_exception", "ret_from_exception", "ret_from_fork", "__switch_to", "call_on_irq_stack"),
           "i386": ("asm_", "entry_", "handle_exception", "restore_all", "__switch_to_asm",
                    "irq_entries_start", "syscall_", "ret_from_intr", "resume_userspace", "__x86_")}


def _any(names, prefixes):
    return any(name.startswith(prefix) and not name.endswith("_handler") for name in names for prefix in prefixes)


class EntryCode:
    def __init__(self, arch, elf):
        self._arch, self._elf = arch, elf

    def leaves_pt_regs(self, names):
        return _any(names, ENTRIES[self._arch])

    def begins_a_stack(self, names):
        return _any(names, BEGINS[self._arch])

    def has_no_rule_for_gdb(self, names):
        return _any(names, NO_RULE[self._arch])

    def is_user_entry(self, names):
        return _any(names, {"x86_64": X86_USER_ENTRIES, "aarch64": ARM64_USER_ENTRIES}.get(self._arch, ()))

    def thunk_return_slot(self, names, address):
        """x86's retpolines (arch/x86/lib/retpoline.S): "call 1f; trap: …; 1: mov %reg, (%rsp); ret". Bytes from the stack
        pointer to the return address of the code that called the thunk: behind the call, one slot further."""
        for name in names:
            if name.startswith("__x86_indirect_thunk_") and not name.endswith("_array"):
                return 0 if address == self._elf.address_of(name) else POINTER[self._arch]
        return None

    def pt_regs_at_pc(self, names, code):
        """asm_ code behind "call error_entry", whose pt_regs the stack pointer is at: "movq %rax, %rsp" (entry_64.S,
        idtentry_body). The kernel's own tables are wrong for this one instruction."""
        return self._arch == "x86_64" and _any(names, ("asm_",)) and code == b"\x48\x89\xc4"

    def is_call_on_irq_stack(self, names):
        """arm64's and RISC-V's: it finds back to the stack that it left by the frame record that it has made there."""
        return self._arch in ("aarch64", "riscv64") and "call_on_irq_stack" in names

    def is_error_entry(self, names):
        return self._arch == "x86_64" and "error_entry" in names

    def knows_mode(self, regs):
        """Whether these registers tell what from_user() asks for."""
        return {"aarch64": "cpsr", "riscv64": "status"}.get(self._arch, "cs") in regs

    def from_user(self, regs):
        if self._arch in ("x86_64", "i386"):
            return regs.get("cs", 0) & 3 == 3
        if self._arch == "aarch64":
            return regs["cpsr"] & 15 == 0  # PSR_MODE_EL0t
        return regs["status"] & 0x100 == 0  # SR_SPP

    def switched_stack(self, frame, memory):
        """The registers of the code that switched to the interrupt stack, if this frame is that code's.

        x86_64 (arch/x86/include/asm/irq_stack.h): movq %rsp, (%tos); movq %tos, %rsp; call f; popq %rsp. Behind the
        return address of f the stack pointer is tos.
        i386 (arch/x86/kernel/irq_32.c): xchgl %ebx, %esp; call *%edi; movl %ebx, %esp. f keeps ebx."""
        if self._arch == "i386" and "ebx" in frame and "call_on_stack" in self._elf.names_at(frame["eip"] - 1):
            return {"esp": frame["ebx"]}
        if self._arch != "x86_64" or frame.get("rsp") not in memory.links():
            return None
        return {"rsp": memory.word(frame["rsp"])}
