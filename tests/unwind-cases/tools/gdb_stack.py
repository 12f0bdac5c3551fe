"""gdb's own stack of a state, from a core file. Runs inside gdb (its Python), which has the whole vmlinux open."""
import os

import gdb

import code_file
import core_file
from unwind_case import PC, SP

MAX_FRAMES = 100
# The registers that a caller's frame keeps, beside pc and sp, in gdb's names and ours.
KEPT = {"x86_64": ("rbx", "rbp", "r12", "r13", "r14", "r15"), "i386": ("ebx", "ebp", "esi", "edi"),
        "aarch64": tuple(f"x{n}" for n in range(19, 31)),
        "riscv64": ("ra", "gp", "tp", "fp", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11")}


def start(vmlinux, elf, folder, modules=()):
    """elf: the same file, an elf_image.Elf. folder: for a file of gdb's. modules: commands for the symbols of modules."""
    for command in ("set pagination off", "set confirm off", "set width 0", "set backtrace past-main on",
                    "set backtrace past-entry on", f"set backtrace limit {MAX_FRAMES}",
                    "set print frame-arguments none", "set auto-load no", f"file {vmlinux}",
                    *modules):
        gdb.execute(command, to_string=True)
    if elf.arch == "aarch64":
        path = os.path.join(folder, "code")
        with open(path, "wb") as file:
            file.write(code_file.code_file(elf))
        gdb.execute(f"exec-file {path}", to_string=True)


def _read(frame, name):
    try:
        return int(frame.read_register(name)) & (1 << 64) - 1
    except (gdb.error, ValueError):
        return None


def frames(case, registers, folder):
    """The frames that gdb finds from these registers on: dictionaries of registers as they were in each."""
    path = os.path.join(folder, "core")
    with open(path, "wb") as file:
        file.write(core_file.core_file(case.arch, registers, [(piece.address, piece.data) for piece in case.memory.pieces]))
    gdb.execute(f"core-file {path}", to_string=True)
    mask = (1 << (32 if case.arch == "i386" else 64)) - 1
    found = []
    try:
        frame = gdb.newest_frame()
        while frame is not None and len(found) < MAX_FRAMES:
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):  # these are not on the stack
                state = {PC[case.arch]: frame.pc() & mask}
                for name in (SP[case.arch],) + KEPT[case.arch]:
                    value = _read(frame, name)
                    if value is not None:
                        state[name] = value & mask
                found.append(state)
            frame = frame.older()
    except gdb.error:
        pass  # what was found until then stands
    return found


def pt_regs(case, address):
    """struct pt_regs at an address, as the kernel's own DWARF lays it out, with our register names; None where it was
    not captured."""
    names = {"x86_64": {"bp": "rbp", "bx": "rbx", "ax": "rax", "cx": "rcx", "dx": "rdx", "si": "rsi", "di": "rdi",
                        "ip": "rip", "sp": "rsp", "flags": "eflags"},
             "i386": {"bp": "ebp", "bx": "ebx", "ax": "eax", "cx": "ecx", "dx": "edx", "si": "esi", "di": "edi",
                      "ip": "eip", "sp": "esp", "flags": "eflags"},
             "aarch64": {"pstate": "cpsr"},
             "riscv64": {"epc": "pc", "s0": "fp"}}[case.arch]
    values = {}

    def walk(kind, base):
        for field in kind.fields():
            inner = field.type.strip_typedefs()
            at = base + field.bitpos // 8
            if field.name is None or inner.code in (gdb.TYPE_CODE_UNION, gdb.TYPE_CODE_STRUCT):
                walk(inner, at)
            elif inner.code == gdb.TYPE_CODE_ARRAY and field.name == "regs":
                for n in range(31):
                    add(f"x{n}", at + 8 * n, 8)
            elif inner.code == gdb.TYPE_CODE_INT:
                add(names.get(field.name, field.name), at, inner.sizeof)

    def add(name, at, size):
        data = case.memory.bytes_at(at, size)
        if data is not None:
            values[name] = int.from_bytes(data, "little")

    walk(gdb.lookup_type("struct pt_regs").strip_typedefs(), address)
    return values if PC[case.arch] in values else None
