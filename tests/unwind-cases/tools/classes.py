"""Classifies cases by their purpose: the class of a case names its file."""
import entry_code

# The start of a case's line "class": {leaf} is the function that runs, {interrupted} the innermost interrupted one,
# {root} the outermost one.
TEXT = {"entry": "entry code runs, {leaf}", "switch": "{leaf} on another stack than the code it interrupted",
        "thunk": "{leaf} runs", "string": "hand-written assembly, {leaf}",
        "irq-prologue": "interrupt in the first instructions of {interrupted}",
        "irq-epilogue": "interrupt in the last instructions of {interrupted}",
        "nested": "two interrupts or exceptions below each other, the inner one in {interrupted}",
        "inline-asm": "inline assembly in {leaf}", "prologue": "first instructions of {leaf}",
        "epilogue": "last instructions of {leaf}", "irq": "interrupt in {interrupted}", "thread": "a kernel thread",
        "syscall": "a system call", "fault": "an exception from user mode"}
STRING = ("mem", "copy_", "__memcpy", "__memset", "clear_", "rep_", "__put_user", "__get_user", "csum", "str",
          "__arch_copy", "__pi_", "__asm_copy", "__fsr", "fallback_scalar", "raw_copy")
# How many cases of each class one kernel's folder gets, unless the command line says otherwise.
QUOTA = {"entry": 45, "switch": 12, "thunk": 6, "string": 8, "irq-prologue": 10, "irq-epilogue": 8, "nested": 6,
         "inline-asm": 6, "prologue": 5, "epilogue": 5, "irq": 5, "thread": 5, "syscall": 8, "fault": 5}
ENTRY_CODE = ("entry", "switch", "thunk", "string", "irq-prologue", "irq-epilogue", "nested", "irq")
PROLOGUE = 8  # bytes


def _is_epilogue(arch, code):
    if arch in ("x86_64", "i386"):
        return bool(code) and (0x58 <= code[0] <= 0x5f or code[0] in (0xc3, 0xc9) or
                               (code[0] == 0x41 and len(code) > 1 and 0x58 <= code[1] <= 0x5f))
    if arch == "aarch64":
        word = int.from_bytes(code[:4], "little")
        return word in (0xd65f03c0, 0xd50323bf) or word & 0xffc07fff == 0xa8c07bfd  # ret, autiasp, ldp x29, x30, [sp]
    return code[:2] == b"\x82\x80"  # riscv: ret


def _place(case, elf, address):
    """"prologue", "epilogue" or "" for an exact address."""
    start = elf.start_of(address)
    if start is not None and address - start < PROLOGUE:
        return "prologue"
    return "epilogue" if _is_epilogue(case.arch, elf.code_at(address, 4)) else ""


def class_of(case, elf):
    code = entry_code.EntryCode(case.arch, elf)
    leaf = elf.names_at(case.frames[0].address)
    interrupted = [frame for frame in case.frames[1:] if frame.exact]
    if any(name.startswith("__x86_") for name in leaf):
        return "thunk"
    if code.has_no_rule_for_gdb(leaf):
        return "entry"
    if any(name.startswith(STRING) for name in leaf):
        return "string"
    if len(interrupted) > 1:
        return "nested"
    for place in ("prologue", "epilogue"):
        if any(_place(case, elf, frame.address) == place for frame in interrupted):
            return "irq-" + place
    if any("switch" in frame.ways for frame in case.frames):
        return "switch"
    if interrupted:
        return "irq"
    place = _place(case, elf, case.frames[0].address)
    if place:
        return place
    if case.stop == "end-of-stack":
        return "thread"
    return "syscall" if any(_is_syscall(name) for frame in case.frames for name in elf.names_at(frame.address - 1)) \
        else "fault"


def _is_syscall(name):
    return "SYSCALL" in name or "SYSENTER" in name or name in ("el0_svc", "do_trap_ecall_u", "do_int80_syscall_32")


def describe(name, case, elf):
    """The text of the line "class": what the case is good for, and by what its frames are confirmed."""
    def function(frame):
        return (elf.names_at(frame.address if frame.exact else frame.address - 1) or ["?"])[0]

    interrupted = next((frame for frame in case.frames[1:] if frame.exact), case.frames[0])
    ways = set().union(case.stop_ways, *(frame.ways for frame in case.frames))
    text = TEXT[name].format(leaf=function(case.frames[0]), interrupted=function(interrupted),
                             root=function(case.frames[-1]))
    return f"{text}; confirmed by {', '.join(sorted(ways))}"
