"""The state of arm64's and RISC-V's entry code, instruction by instruction: which of the interrupted registers are
in struct pt_regs already, and which are still in the vCPU. Written from the kernel's source and the architectures'
manuals; the instructions of the kernel's own file say how far its macros have come.

While entry code runs, exceptions are masked: the registers ELR_EL1 and SPSR_EL1 (Arm ARM, D1.3), sepc and sstatus
(privileged architecture, 10.1) tell of the exception that it is for.
"""
import re

AARCH64_ENTRY = re.compile(r"el(1t|1h|0t)_(64|32)_(sync|irq|fiq|error)")
AARCH64_PT_REGS_SIZE, RISCV_PT_REGS_SIZE = 336, 288
SPSR_EL = 12  # PSTATE.M: bits 3:2 are the exception level
SSTATUS_SPP = 0x100
EXCEPTION = ("elr_el1", "spsr_el1", "sepc", "sstatus", "status")


def _words(elf, start, end):
    code = elf.code_at(start, end - start)
    return [(start + at, int.from_bytes(code[at:at + 4], "little")) for at in range(0, len(code) - 3, 4)]


def _halves(elf, start, end):
    """RISC-V instructions as (address, bits)."""
    code, at = elf.code_at(start, end - start), 0
    while at + 2 <= len(code):
        half = int.from_bytes(code[at:at + 2], "little")
        size = 4 if half & 3 == 3 else 2
        yield start + at, half if size == 2 else int.from_bytes(code[at:at + 4], "little")
        at += size


def _word(case, address):
    return case.memory.word(address)


class Lost(Exception):
    """This place is not told here."""


def _from_memory(case, base, slots, state):
    """The state with the registers of {name: offset} read from struct pt_regs."""
    state = dict(state)
    for name, offset in slots.items():
        value = _word(case, base + offset)
        if value is None:
            raise Lost
        state[name] = value
    return state


def aarch64(case, elf, names, state):
    """The interrupted registers, or "user" where user mode was interrupted. names: of the function that the pc is in."""
    pc, sp = state["pc"], state["sp"]
    if "vectors" in names:
        return _aarch64_vectors(case, elf, state)
    entry = next((m for m in map(AARCH64_ENTRY.fullmatch, names) if m), None)
    if (entry and entry.group(1) == "0t") or "ret_to_user" in names:
        return "user"
    start = elf.start_of(pc)
    if entry:
        # kernel_entry: stp x0, x1, [sp, #16 * 0] and so on; stp lr, x21, [sp, #S_LR]; stp x22, x23, [sp, #S_PC]
        slots = {}
        for at, word in _words(elf, start, pc):
            if word & 0xffc003e0 == 0xa90003e0:  # stp Xt, Xt2, [sp, #offset]
                offset = (word >> 15 & 127) * 8
                if offset < 240:
                    slots.update({f"x{word & 31}": offset, f"x{word >> 10 & 31}": offset + 8})
                elif offset == 240:
                    slots["x30"] = offset
                elif offset == 256:
                    slots.update(elr_el1=256, spsr_el1=264)
        whole = _from_memory(case, sp, slots, state)
        whole["sp"] = sp + AARCH64_PT_REGS_SIZE
    elif "ret_to_kernel" in names:
        # kernel_exit: all of struct pt_regs is still there until add sp, sp, #PT_REGS_SIZE; eret
        if any(word == 0x910543ff for _, word in _words(elf, start, pc)):
            whole = dict(state)
        else:
            if _word(case, sp + 256) is None or _word(case, sp + 264) is None:
                raise Lost
            whole = _from_memory(case, sp, {**{f"x{n}": 8 * n for n in range(31)}, "sp": 248, "elr_el1": 256,
                                            "spsr_el1": 264}, state)
    else:
        raise Lost
    if whole["spsr_el1"] & SPSR_EL == 0:
        return "user"
    whole["pc"] = whole["elr_el1"]
    return whole


def _aarch64_vectors(case, elf, state):
    """kernel_ventry: sub sp, sp, #PT_REGS_SIZE; add sp, sp, x0; sub x0, sp, x0; tbnz; sub x0, sp, x0; sub sp, sp, x0; b:
    the sum and the differences exchange sp and x0 and put them back."""
    vector, at = divmod(state["pc"] - elf.address_of("vectors"), 128)
    if vector >= 8:  # from a lower exception level
        return "user"
    mask = (1 << 64) - 1
    x0, sp = state["x0"], state["sp"]
    if at >= 28:
        raise Lost  # the stack has overflowed
    if at == 0:
        sp -= AARCH64_PT_REGS_SIZE
    elif at in (8, 20):  # sp + x0 in sp
        sp = sp - x0 & mask
    elif at in (12, 16):  # sp in x0, sp + x0 in sp
        x0, sp = sp - x0 & mask, x0
    whole = {**state, "x0": x0, "sp": (sp + AARCH64_PT_REGS_SIZE) & mask, "pc": state["elr_el1"]}
    return "user" if state["spsr_el1"] & SPSR_EL == 0 else whole


RISCV_NAMES = ("zero ra sp gp tp t0 t1 t2 fp s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 "
               "t6").split()


def riscv64(case, elf, names, state):
    """As aarch64(): arch/riscv/kernel/entry.S, handle_exception and ret_from_exception."""
    pc, sp, start = state["pc"], state["sp"], elf.start_of(state["pc"])
    before = list(_halves(elf, start, pc))
    if "ret_from_exception" in names:
        # all of struct pt_regs is still there until ld sp, 16(sp); sret
        if any(word == 0x6142 for _, word in before):
            whole = {**state, "pc": state["sepc"], "status": state["sstatus"]}
        else:
            slots = {name: 8 * n for n, name in enumerate(RISCV_NAMES) if n}
            whole = _from_memory(case, sp, {**slots, "pc": 0, "status": 256}, state)
        return "user" if whole["status"] & SSTATUS_SPP == 0 else whole
    if "handle_exception" not in names:
        raise Lost
    stored = {word for _, word in before}
    status = state["sstatus"] if 0xe226 not in stored else _word(case, sp + 256)  # sd s1, 256(sp)
    if status is None:
        raise Lost
    if status & SSTATUS_SPP == 0:
        return "user"
    # VMAP_STACK: sd sp, 16(tp); addi sp, sp, -PT_SIZE; srli; andi; bnez; ld sp, 16(tp)
    moved = [at for at, word in before if word == 0x712d]  # c.addi16sp sp, -288
    if len(moved) == 1 and 0x01023103 not in stored:
        if moved[0] + 2 != pc:
            raise Lost
        sp += RISCV_PT_REGS_SIZE
    base = sp if len(moved) == 2 else sp - RISCV_PT_REGS_SIZE
    slots = {}
    for _, word in before:
        if word & 0xe003 == 0xe002 and word < 0x10000:  # c.sdsp: sd reg, offset(sp)
            offset = (word >> 7 & 7) << 6 | (word >> 10 & 7) << 3
            name = RISCV_NAMES[word >> 2 & 31]
            if offset and RISCV_NAMES.index(name) * 8 == offset and name not in ("sp", "tp"):
                slots[name] = offset
    if 0xe04a in stored:  # sd s2, 0(sp)
        slots["sepc"] = 0
    whole = _from_memory(case, base, slots, state)
    whole["sp"], whole["pc"] = base + RISCV_PT_REGS_SIZE, whole["sepc"]
    return whole


def interrupted(case, elf, names, state):
    """The registers that entry code at this pc interrupted, "user" where that was user mode, None where it is not told."""
    try:
        found = {"aarch64": aarch64, "riscv64": riscv64}[case.arch](case, elf, names, state)
    except (Lost, KeyError):
        return None
    # The next exception writes them over.
    return found if found == "user" else {name: value for name, value in found.items() if name not in EXCEPTION}


def leaf_return(case, elf, names, state):
    """The caller of hand-written code that the pc itself is in, as registers; None where it is not told.

    cpu_switch_to (arch/arm64/kernel/entry.S) and __switch_to (arch/riscv/kernel/entry.S) keep the return address in its
    register and use no stack; between the loads of the next thread's frame pointer and stack pointer there is no caller.
    call_on_irq_stack saves a frame record first, and finds back by the frame pointer."""
    before = {word for _, word in (_words(elf, elf.start_of(state["pc"]), state["pc"]) if case.arch == "aarch64" else
                                   _halves(elf, elf.start_of(state["pc"]), state["pc"]))}
    if "cpu_switch_to" in names:
        between = 0xa8c1251d in before and 0x9100013f not in before  # ldp x29, x9, [x8], #16; mov sp, x9
        return None if between else {**state, "pc": state["x30"]}
    if "__switch_to" in names and case.arch == "riscv64":
        between = 0x00073083 in before and 0x6b00 not in before  # ld ra, 0(a4); ld s0, 16(a4)
        return None if between else {**state, "pc": state["ra"]}
    if "call_on_irq_stack" in names:
        return _in_call_on_irq_stack(case, before, state)
    return None


def _in_call_on_irq_stack(case, before, state):
    if case.arch == "aarch64":
        if 0xa8c17bfd in before or 0xa9bf7bfd not in before:  # ldp x29, x30, [sp], #16; stp x29, x30, [sp, #-16]!
            return {**state, "pc": state["x30"]}
        return left_irq_stack(case, {**state, "x29": state["x29"] if 0x910003fd in before else state["sp"]})
    if 0x0800 not in before:  # addi s0, sp, 16
        return {**state, "pc": state["ra"], "sp": state["sp"] + (16 if 0x1141 in before else 0)}
    if 0x6402 not in before:  # ld s0, 0(sp)
        return left_irq_stack(case, state)
    return {**state, "pc": state["ra"], "sp": state["sp"] + (0 if 0x0141 in before else 16)}


def left_irq_stack(case, frame):
    """The caller of call_on_irq_stack, by its frame record; None where that was not captured."""
    if case.arch == "aarch64":
        at, register, link, above = frame.get("x29"), "x29", 8, 16
    else:
        at, register, link, above = frame.get("fp"), "fp", -8, 0
    values = at is not None and (_word(case, at + link), _word(case, at + link - 8))
    if not values or None in values:
        return None
    return {**frame, "pc": values[0], register: values[1], "sp": at + above}
