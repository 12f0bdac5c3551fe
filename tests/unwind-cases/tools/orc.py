"""Linux's own way to walk its x86_64 stacks, the ORC tables, as a second opinion: written from the kernel's
arch/x86/kernel/unwind_orc.c and orc_types.h (6.1), without a look at ringside's own.

The walk is the kernel's: no interrupt frame is guessed, assembly is described by its UNWIND_HINTs.
"""
import bisect
import struct

UNDEFINED, PREV_SP, DX, DI, BP, SP, R10, R13, BP_INDIRECT, SP_INDIRECT = range(10)
CALL, REGS, REGS_PARTIAL = range(3)
MAX_FRAMES = 200

# struct pt_regs (arch/x86/include/asm/ptrace.h)
PT_REGS = ("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi",
           "orig_rax", "rip", "cs", "eflags", "rsp", "ss")
OFFSET = {name: 8 * i for i, name in enumerate(PT_REGS)}
IRET_FRAME = OFFSET["rip"]


class Table:
    def __init__(self, elf, bias=0):
        """elf: an elf_image.Elf with .orc_unwind_ip and .orc_unwind. bias: load address minus linked address."""
        address, ips = elf.section(".orc_unwind_ip")
        self._ips = [address + 4 * i + offset for i, (offset,) in enumerate(struct.iter_unpack("<i", ips))]
        self._entries = elf.section(".orc_unwind")[1]
        self._bias = bias
        # From 6.3 on the entry has a bit "signal", and from 6.4 on other types: .orc_header came with those.
        if ".orc_header" in elf.sections:
            raise ValueError("this reads the ORC format of Linux 4.14 to 6.2")

    def find(self, ip):
        at = bisect.bisect_right(self._ips, ip - self._bias) - 1
        if at < 0:
            return None
        sp_offset, bp_offset, flags = struct.unpack_from("<hhH", self._entries, 6 * at)
        return sp_offset, bp_offset, flags & 15, flags >> 4 & 15, flags >> 8 & 3, flags >> 10 & 1


class Stop(Exception):
    pass


def _load(memory, address):
    value = memory.word(address)
    if value is None:
        raise Stop("truncated")
    return value


class Walk:
    """frames: (address, exact, registers), registers those known in that frame. stop: why it ended."""

    def __init__(self, table, registers, memory):
        self._table, self._memory = table, memory
        self.frames = []
        self.stop = None
        # As with an interrupt at the pc: all registers are known.
        self._ip, self._sp, self._bp = registers["rip"], registers["rsp"], registers.get("rbp")
        self._signal = True
        self._regs = dict(registers)
        try:
            while len(self.frames) < MAX_FRAMES:
                self._step()
            self.stop = "too-deep"
        except Stop as stop:
            self.stop = str(stop)

    def _registers(self):
        known = dict(self._regs) if self._regs else {}
        known.update({"rip": self._ip, "rsp": self._sp})
        if self._bp is not None:
            known["rbp"] = self._bp
        return known

    def _base(self, reg, offset):
        if reg in (SP, SP_INDIRECT):
            return self._sp
        if reg in (BP, BP_INDIRECT):
            if self._bp is None:
                raise Stop("no-rule")
            return self._bp
        name = {DX: "rdx", DI: "rdi", R10: "r10", R13: "r13"}.get(reg)
        if name is None or not self._regs or name not in self._regs:
            raise Stop("no-rule")
        return self._regs[name]

    def _step(self):
        self.frames.append((self._ip, self._signal, self._registers()))
        found = self._table.find(self._ip if self._signal else self._ip - 1)
        if found is None:
            raise Stop("no-rule")
        sp_offset, bp_offset, sp_reg, bp_reg, kind, end = found
        if end:
            raise Stop("end-of-stack")
        if sp_reg == UNDEFINED:
            raise Stop("no-rule")
        base = self._base(sp_reg, sp_offset)
        if sp_reg == SP_INDIRECT:
            base = _load(self._memory, base) + sp_offset
        elif sp_reg == BP_INDIRECT:
            base = _load(self._memory, base + sp_offset)
        else:
            base += sp_offset
        if kind == CALL:
            self._call(base, bp_offset, bp_reg)
        else:
            self._pt_regs(base, kind)

    def _call(self, base, bp_offset, bp_reg):
        ip = _load(self._memory, base - 8)
        if bp_reg == PREV_SP:
            self._bp = _load(self._memory, base + bp_offset)
        elif bp_reg == BP:
            self._bp = _load(self._memory, self._bp + bp_offset)
        self._ip, self._sp, self._signal, self._regs = ip, base, False, None

    def _pt_regs(self, base, kind):
        start = base if kind == REGS else base - IRET_FRAME
        if _load(self._memory, start + OFFSET["cs"]) & 3 == 3:
            raise Stop("reached-user-mode")
        names = PT_REGS if kind == REGS else PT_REGS[PT_REGS.index("rip"):]
        live = self._regs or {}
        regs = {}
        for name in names:
            if name == "orig_rax":
                continue
            # A value that entry code has popped lies below the stack pointer and was not captured: the register has it.
            popped = start + OFFSET[name] < self._sp and name in live
            regs[name] = live[name] if popped else _load(self._memory, start + OFFSET[name])
        # A partial frame keeps what the interrupting code has not yet saved or changed.
        known = {}
        if kind == REGS_PARTIAL:
            known = dict(live)
            # PUSH_AND_CLEAR_REGS (arch/x86/entry/calling.h) pushes struct pt_regs from its end and clears what it
            # pushed: the values are on the stack from the stack pointer up, the rest is still in the registers.
            for name in ("rbx", "rbp", "r12", "r13", "r14", "r15"):
                if start + OFFSET[name] >= self._sp:
                    known[name] = _load(self._memory, start + OFFSET[name])
        known.update(regs)
        self._ip, self._sp, self._signal, self._regs = regs["rip"], regs["rsp"], True, known
        self._bp = known.get("rbp", self._bp)
