"""Says whether a kernel stack reaches a true entry point of the kernel, and whether its names are right.

A stack is complete when its outermost kernel frame is where the kernel is entered: a system call, an interrupt or an
exception that came from user mode, the start of a kernel thread, or the code that starts a vCPU, under which it idles.
A stack that ends at an exception inside the kernel is not complete, and one with a guessed frame is not either.
"""
import collections
import dataclasses
import re

GUESS = "guess"
USER_MODE, END = "reached user mode", "end of stack"


@dataclasses.dataclass(frozen=True)
class Entries:
    """Regular expressions of function names. user: where user mode enters and leaves the kernel. start: where a thread
    or a vCPU begins. only_user: of `user`, what cannot be reached from the kernel. below: a function that starts a
    thread only under one of the second names."""
    user: str
    start: str
    only_user: str
    below: tuple = ()


# Kernel 6.1 arch/x86/entry/entry_64.S, entry_64_compat.S, kernel/head_64.S; entry_32.S, head_32.S;
# arch/arm64/kernel/entry.S, head.S; kernel 6.12 arch/riscv/kernel/entry.S, head.S.
_X86 = r"asm_(exc|sysvec|common|spurious|int80)_\w+|asm_common_interrupt|irq_entries_start|spurious_entries_start"
ENTRIES = {
    "amd64": Entries(
        user=_X86 + r"|entry_SYSCALL_\w+|entry_SYSENTER_compat\w*|entry_SYSRET\w+|syscall_return_via_sysret"
        r"|sysret32_\w+|common_interrupt_return|swapgs_restore_regs_and_return_to_usermode|native_irq_return_iret"
        r"|early_xen_iret_patch|error_return|ret_from_fork|nmi_restore|nmi_no_fsgsbase|\w+_nmi",
        start=r"ret_from_fork|secondary_startup_64\w*|startup_64|start_cpu0",
        only_user=r"entry_SYSCALL_\w+|entry_SYSENTER_compat\w*|entry_SYSRET\w+|syscall_return_via_sysret"),
    "i386": Entries(
        user=_X86 + r"|entry_SYSENTER_32|entry_INT80_32|restore_all_switch_stack|handle_exception\w*|ret_to_user"
        r"|__(begin|end)_SYSENTER_singlestep_region|ret_from_fork",
        start=r"ret_from_fork|startup_32\w*",
        only_user=r"entry_SYSENTER_32|entry_INT80_32|__(begin|end)_SYSENTER_singlestep_region"),
    "arm64": Entries(
        user=r"el0t_(64|32)_(sync|irq|fiq|error)|ret_to_user|vectors|tramp_vectors|tramp_exit_native|tramp_exit_compat"
        r"|ret_from_fork",
        start=r"ret_from_fork|__primary_switched|__secondary_switched",
        only_user=r"el0t_(64|32)_(sync|irq|fiq|error)|ret_to_user|tramp_vectors|tramp_exit_(native|compat)"),
    "riscv64": Entries(
        user=r"handle_exception|ret_from_exception\w*|ret_from_fork\w*",
        # _start_kernel jumps to the first C function, it does not call it; so does ret_from_fork.
        start=r"ret_from_fork\w*|_start_kernel|secondary_start_sbi|start_kernel|smp_callin",
        only_user=r"(?!)",
        below=(r"ret_from_exception", r"kthread|kernel_init|call_usermodehelper_exec_async")),
}


def frame_names(symbols, frame):
    """The right names of a recorded frame."""
    address = int(frame["address"], 16)
    return symbols.names(address if frame["exact"] else address - 1)


def _any(pattern, names):
    return any(re.fullmatch(pattern, name) for name in names)


def why_incomplete(entries, symbols, stack):
    """None for a complete stack of kernel frames (as `export --format json-lines` tells it, leaf first), else why."""
    frames = [frame for frame in stack["frames"] if frame["kind"] in ("kernel", "interrupt")]
    if not frames:
        return "no frame"
    if stack["stop"] not in (USER_MODE, END):
        return stack["stop"]
    if any(frame["rule"] == GUESS for frame in frames):
        return "guessed frame"
    root = frame_names(symbols, frames[-1])
    if stack["stop"] == USER_MODE:
        return None if _any(entries.user, root) else "user mode under a function that is no entry"
    if _any(entries.start, root) or _any(entries.only_user, root):
        return None
    if entries.below and len(frames) > 1 and _any(entries.below[0], root):
        return None if _any(entries.below[1], frame_names(symbols, frames[-2])) else "ends inside"
    return "ends inside"


def is_entry(entries, name):
    return _any(entries.user, [name]) or _any(entries.start, [name])


def is_entry_at(entries, symbols, address):
    """Whether entry code is at an address: assembly that the kernel is entered or left by."""
    return any(is_entry(entries, name) or name in symbols.entry_text for name in symbols.names(address))


def gdb_is_complete(entries, symbols, frames):
    """Whether gdb's stack, as (address, exact) leaf first, ends at an entry. It does not tell from where that was
    entered."""
    if not frames:
        return False
    address, exact = frames[-1]
    return any(is_entry(entries, name) for name in symbols.names(address if exact else address - 1))


@dataclasses.dataclass
class Verdict:
    samples: int = 0
    complete: int = 0
    frames: int = 0
    named: int = 0
    wrong: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    classes: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))
    unnamed: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    rules: collections.Counter = dataclasses.field(default_factory=collections.Counter)


def describe(symbols, stack):
    """A stack as text, leaf first, with the right names."""
    lines = [f"{frame['address']} {'/'.join(sorted(frame_names(symbols, frame))) or '?'} ({frame['rule']}"
             f"{', exact' if frame['exact'] else ''})" for frame in stack["frames"]]
    return "\n".join(lines + [f"stop: {stack['stop']} at {stack['stopped_at']}"])


def judge(entries, symbols, samples):
    """Judges the kernel samples among the lines of `export --format json-lines`."""
    verdict = Verdict()
    for sample in samples:
        if sample.get("level") != "kernel" or sample["disposition"] != "sampled":
            continue
        verdict.samples += 1
        stack = sample["stacks"][0] if sample["stacks"] else {"frames": [], "stop": "no stack", "stopped_at": "0x0"}
        if reason := why_incomplete(entries, symbols, stack):
            root = stack["frames"][-1] if stack["frames"] else None
            name = min(frame_names(symbols, root), default=root["address"]) if root else "none"
            verdict.classes[reason, name].append(stack)
        else:
            verdict.complete += 1
        for frame in stack["frames"]:
            if frame["kind"] in ("kernel", "interrupt"):
                _judge_frame(verdict, symbols, frame)
    return verdict


def _judge_frame(verdict, symbols, frame):
    verdict.frames += 1
    verdict.rules[frame["rule"]] += 1
    right = frame_names(symbols, frame)
    if not frame["functions"]:
        verdict.unnamed[min(right, default="outside of the kernel's code")] += 1
        return
    verdict.named += 1
    if frame["functions"][0] not in right:
        verdict.wrong[frame["functions"][0], min(right, default="outside of the kernel's code"), frame["address"]] += 1
