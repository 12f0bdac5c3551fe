"""Why gdb cannot go on from a frame of the kernel: decided by the kernel's code and call-frame information alone, so
that it says the same of a running guest and of a case in tests/unwind-cases."""
import re

from ringside_tests.judges.gdb.case_tools import entry_code

MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "i386": "i386", "riscv64": "riscv64"}  # as the cases name them

ENTRY = "entry assembly without call-frame information"
ASSEMBLY = "other assembly without call-frame information"
THUNK = "a retpoline's inner call, which is no frame"
SWITCH = "inline assembly that switches stacks"
SIGNED = "a signed return address, which gdb takes as it is"
MODULE = "module code, of which gdb has no file"

# The code that still runs on the other stack where inline assembly has switched.
# x86_64, arch/x86/include/asm/irq_stack.h: "movq %rsp, (%tos); movq %tos, %rsp; call …; popq %rsp", with one to three
# calls and arguments loaded between them.
# i386, arch/x86/kernel/irq_32.c: "xchgl %ebx, %esp; call *%edi; movl %ebx, %esp". gdb does not go to a stack that lies
# below the one it is on.
SWITCHES = {"amd64": rb"(\xe8.{4}|\x48\x89.|\x89.)*\x5c", "i386": rb"\x89\xdc"}
THUNKS = {"amd64": ("__x86_indirect_thunk_",), "i386": ("__x86_indirect_thunk_",)}


def is_signed(arch, address, found):
    """Whether `found` is a return address `address` of arm64's with a pointer authentication code: its upper bits but bit
    55 (Arm ARM, D8.10)."""
    other = address ^ found
    return arch == "arm64" and other != 0 and other & ((1 << 48) - 1 | 1 << 55) == 0


def is_thunk(arch, names):
    return any(name.startswith(THUNKS.get(arch, ())) for name in names)


def reason(arch, code, names, address, exact):
    """Why gdb does not find the caller of a frame rightly; None where it has all that it needs.
    code: the kernel's KernelCode. names: those of the frame's function. exact: the address is a pc, no return
    address."""
    at = address if exact else address - 1
    if code.is_module(at):
        return None if code.is_described(at) else MODULE
    if not code.is_described(at):
        if is_thunk(arch, names):
            return THUNK
        prefixes = entry_code.NO_RULE[MACHINES[arch]] + entry_code.BEGINS[MACHINES[arch]]
        return ENTRY if any(name.startswith(prefixes) for name in names) else ASSEMBLY
    if arch in SWITCHES and re.match(SWITCHES[arch], code.bytes_at(address, 40), re.DOTALL):
        return SWITCH
    return None
