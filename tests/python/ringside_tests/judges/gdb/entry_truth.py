"""Lets entry code run to where it shows what it was entered from: the truth about a state in which gdb knows nothing.

A vCPU that stands in entry code is stepped until it leaves that. Where it calls C it hands over struct pt_regs, which
says what was interrupted; where it goes back, to user mode or to kernel code, that is what was interrupted.
"""
import dataclasses

MOST_STEPS = 600


@dataclasses.dataclass(frozen=True)
class Layout:
    """The stub's `g` packet and struct pt_regs (arch/x86/include/asm/ptrace.h and arch/arm64/include/asm/ptrace.h of
    Linux 6.1, arch/riscv/include/asm/ptrace.h of 6.12): registers of `size` bytes each, by gdb's names. argument: holds
    a function's first argument. mode, mask, user: the register, and which of its bits say user mode with what value.
    kernel: the lowest kernel address. link: the register that a call leaves the return address in, else it is on the
    stack."""
    size: int
    packet: tuple
    pt_regs: tuple
    pc: str
    sp: str
    argument: str
    mode: str
    mask: int
    user: int
    kernel: int
    link: str = ""


RISCV = ("ra sp gp tp t0 t1 t2 fp s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6").split()
ARM64 = [f"x{n}" for n in range(31)] + ["sp", "pc"]
LAYOUTS = {
    "amd64": Layout(8, packet=tuple("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()),
                    pt_regs=tuple("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags "
                                  "rsp ss".split()),
                    pc="rip", sp="rsp", argument="rdi", mode="cs", mask=3, user=3, kernel=1 << 63),
    # PSTATE.M: exception level 0 (Arm ARM, C5.2.18).
    "arm64": Layout(8, packet=tuple(ARM64), pt_regs=tuple(ARM64 + ["pstate"]), pc="pc", sp="sp", argument="x0",
                    mode="pstate", mask=15, user=0, kernel=1 << 63, link="x30"),
    # sstatus.SPP (RISC-V privileged architecture, 10.1.1).
    "riscv64": Layout(8, packet=tuple(["zero"] + RISCV + ["pc"]), pt_regs=tuple(["pc"] + RISCV + ["status"]), pc="pc",
                      sp="sp", argument="a0", mode="status", mask=0x100, user=0, kernel=1 << 63, link="ra"),
    "i386": Layout(4, packet=tuple("eax ecx edx ebx esp ebp esi edi eip".split()),
                   pt_regs=tuple("ebx ecx edx esi edi ebp eax ds es fs gs orig_eax eip cs eflags esp ss".split()),
                   pc="eip", sp="esp", argument="eax", mode="cs", mask=3, user=3, kernel=0xc0000000)}


class EntryTruth:
    """is_entry(pc): whether entry code is there. stub: a stub_proxy.Stub whose guest stands still."""

    def __init__(self, arch, is_entry, stub):
        self._layout, self._is_entry, self._stub = LAYOUTS.get(arch), is_entry, stub

    def of(self, vcpu):
        """{"user": True}, {"pc": of the interrupted kernel code, "registers": its by name}, or None: the vCPU is not in
        entry code, or does not show it. Runs that vCPU on."""
        if self._layout is None:
            return None
        thread = b"p01.%02x" % (vcpu + 1)
        now = self._registers(thread)
        if not self._is_entry(now[self._layout.pc]):
            return None
        for _ in range(MOST_STEPS):
            before = now
            self._stub.step(thread)
            now = self._registers(thread)
            if not self._is_entry(now[self._layout.pc]):
                return self._left(now, before)
        return None

    def _left(self, now, before):
        layout = self._layout
        if now[layout.pc] < layout.kernel:
            return {"user": True}
        sp = now[layout.sp]
        if layout.link:
            called = now[layout.link] != before[layout.link] and self._is_entry(now[layout.link])
        else:
            called = sp == before[layout.sp] - layout.size and self._is_entry(next(iter(self._words(sp, 1)), 0))
        if not called:
            return {"pc": now[layout.pc], "registers": now}
        argument = now[layout.argument]
        if not sp <= argument < sp + 0x4000:  # not the address of struct pt_regs
            return None
        saved = dict(zip(layout.pt_regs, self._words(argument, len(layout.pt_regs))))
        if layout.mode not in saved:
            return None
        if saved[layout.mode] & layout.mask == layout.user:
            return {"user": True}
        return {"pc": saved[layout.pc], "registers": {name: saved[name] for name in layout.packet if name in saved}}

    def _words(self, address, count):
        """The words there; none where that cannot be read."""
        reply = self._stub.request(b"m%x,%x" % (address, self._layout.size * count))
        return [] if reply.startswith(b"E") else self._cut(bytes.fromhex(reply.decode()))

    def _cut(self, data):
        size = self._layout.size
        return [int.from_bytes(data[at:at + size], "little") for at in range(0, len(data) - size + 1, size)]

    def _registers(self, thread):
        self._stub.request(b"Hg" + thread)
        data = bytes.fromhex(self._stub.request(b"g").decode().replace("x", "0"))
        return dict(zip(self._layout.packet, self._cut(data)))
