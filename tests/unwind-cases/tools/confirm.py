"""Confirms the expected stacks of cases by other ways than ringside's. Runs inside gdb:

    gdb-multiarch -nx -batch -x confirm.py          # with CONFIRM="VMLINUX REPORT CASE …" in the environment

CONFIRM_MODULES may hold gdb commands, one a line, for the symbols of modules.
For each case: gdb's stack of the same state, from a core file; on x86_64 Linux with ORC tables the kernel's own walk of
them too. Frames that neither finds are confirmed by the kernel's source, class by class (README.md): the
ways "pt_regs", "exception", "link", "switch", "entry", "thread-start", "thunk". A case of which every frame and the end
are confirmed gets its expected stack written; of others the report says what differs.
"""
import json
import os
import shlex
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import entry_code  # noqa: E402
import exception_entry  # noqa: E402
import gdb_stack  # noqa: E402
import orc  # noqa: E402
import signed_addresses  # noqa: E402
from elf_image import Elf  # noqa: E402
from unwind_case import Case, Frame, PC, POINTER, SP  # noqa: E402


class Truth:
    """The stack as the other ways see it: addresses, exactness and ways, and why it ends."""

    def __init__(self, case, elf, table, folder):
        self.case, self.elf, self.folder = case, elf, folder
        self.code = entry_code.EntryCode(case.arch, elf)
        self.table = table
        self.orc = orc.Walk(table, case.registers, case.memory) if table else None
        self.frames = []  # [address, exact, ways]
        self.stop, self.stop_ways = None, set()
        self.executed = False  # the next frame is what the guest went on to
        self._way_of_interrupted = "pt_regs"

    def build(self):
        """Walks by gdb, segment by segment; a segment begins at each pc that was interrupted."""
        state = {k: v for k, v in self.case.registers.items() if isinstance(v, int)}
        exact = True
        while state is not None and len(self.frames) < 200:
            state, exact = self._segment(state, exact)
        return self

    def _name(self, address, exact):
        return self.elf.names_at(address if exact else address - 1)

    def _gdb_frames(self, state, exact):
        """gdb's frames. Inline assembly that pushes (pushf; pop) is in no call-frame information, but objtool has
        followed it: where ORC says that the frame begins some words away from where gdb sees it, gdb is asked again
        with a stack pointer that is as much away."""
        found = gdb_stack.frames(self.case, state, self.folder)
        if not exact or self.table is None:
            return found
        walk = orc.Walk(self.table, state, self.case.memory)
        if len(walk.frames) < 2 or walk.frames[1][1] or (len(found) > 1 and found[1]["rip"] == walk.frames[1][0]):
            return found
        if len(found) < 2 or abs(walk.frames[1][2]["rsp"] - found[1]["rsp"]) > 64:
            return found
        moved = {**state, "rsp": state["rsp"] + walk.frames[1][2]["rsp"] - found[1]["rsp"]}
        again = gdb_stack.frames(self.case, moved, self.folder)
        if len(again) < 2 or again[1]["rip"] != walk.frames[1][0]:
            return found
        again[0].update({"rsp": state["rsp"], "moved": True})
        return again

    def _end(self, stop, way):
        self.stop, self.stop_ways = stop, {way}
        return None, True

    def _segment(self, state, exact):
        """Adds the frames of one segment; returns where the next one begins."""
        case, pc_name, sp_name = self.case, PC[self.case.arch], SP[self.case.arch]
        # The pc of a return address may lie behind its function: gdb is given the call.
        begin = dict(state)
        if not exact:
            begin[pc_name] -= 1
        found = [] if self.code.has_no_rule_for_gdb(self._name(state[pc_name], exact)) else \
            self._gdb_frames(begin, exact)
        if found:
            found[0][pc_name] = state[pc_name]
        else:
            found = [state]
        for i, frame in enumerate(found):
            pc, sp = frame[pc_name], frame.get(sp_name)
            is_exact = exact and i == 0
            names = self._name(pc, is_exact)
            resumed = i == 0 and not exact  # this frame ended the segment before
            if not resumed:
                ways = {"registers"} if not self.frames else {self._way_of_interrupted} if is_exact else {"gdb"}
                if i == 1 and found[0].get("moved"):  # gdb alone has not found this one
                    ways = {"orc"}
                if self.executed:
                    ways, self.executed = {"executed"}, False
                self._way_of_interrupted = "pt_regs"
                self.frames.append([pc, is_exact, ways])
            if self.code.begins_a_stack(names) and not is_exact:
                return self._at_thread_start()
            if self.code.leaves_pt_regs(names) and not is_exact:
                return self._at_pt_regs(sp)
            switched = self.code.switched_stack(frame, case.memory)
            if switched is not None and not resumed:
                self.frames[-1][2].add("switch")
                return {**frame, **switched}, False
            if self.code.is_call_on_irq_stack(names) and not is_exact:
                return self._leave_irq_stack(frame)
            if is_exact and len(found) == 1:
                return self._in_assembly(frame, names)
        return self._end("lost", "gdb")

    def _at_thread_start(self):
        """A new process calls *exit_to_user_mode() with struct pt_regs at the stack pointer."""
        if len(self.frames) > 1:
            above = self.frames[-2]
            if any(name.endswith("exit_to_user_mode") for name in self._name(above[0], above[1])):
                return self._end("reached-user-mode", "thread-start")
        return self._end("end-of-stack", "thread-start")

    def _at_pt_regs(self, address):
        regs = gdb_stack.pt_regs(self.case, address)
        if self.code.is_user_entry(self._name(self.frames[-1][0], False)):
            return self._end("reached-user-mode", "entry")
        if regs is None or not self.code.knows_mode(regs):
            return self._end("truncated", "pt_regs")
        if self.code.from_user(regs):
            return self._end("reached-user-mode", "pt_regs")
        return regs, True

    def _leave_irq_stack(self, frame):
        caller = exception_entry.left_irq_stack(self.case, frame)
        if caller is None:
            return self._end("stack-not-copied", "switch")
        self.frames[-1][2].add("switch")
        self.frames.append([caller["pc"], False, {"switch"}])
        return caller, False

    def _in_exception_entry(self, state, names):
        """_in_assembly() of arm64 and RISC-V."""
        if self.code.begins_a_stack(names):
            return self._at_thread_start()
        caller = exception_entry.leaf_return(self.case, self.elf, names, state)
        if caller is not None:
            way = {"switch" if self.code.is_call_on_irq_stack(names) else "link"}
            begins = self.elf.start_of(caller["pc"]) == caller["pc"] and \
                self.code.begins_a_stack(self._name(caller["pc"], True))  # a new thread returns to it for the first time
            self.frames.append([caller["pc"], begins, way])
            return self._at_thread_start() if begins else (caller, False)
        interrupted = exception_entry.interrupted(self.case, self.elf, names, state)
        if interrupted is None:
            return self._as_executed()
        if interrupted == "user":
            return self._end("reached-user-mode", "entry" if self.case.arch == "aarch64" else "exception")
        self._way_of_interrupted = "exception"
        return interrupted, True

    def _in_assembly(self, state, names):
        """The pc itself lies in code that gdb has no rule for."""
        if self.case.arch in ("aarch64", "riscv64"):
            return self._in_exception_entry(state, names)
        pc, sp = state[PC[self.case.arch]], state.get(SP[self.case.arch])
        slot = self.code.thunk_return_slot(names, pc)
        if slot is not None:
            return self._return_to(state, sp + slot, "thunk")
        if self.code.pt_regs_at_pc(names, self.elf.code_at(pc, 3)):
            return self._at_pt_regs(sp)
        if self.case.arch == "i386" and "__switch_to_asm" in names:
            return self._from_switch_to_asm(state)
        # ORC's step, which is the kernel's own.
        walk = orc.Walk(self.table, state, self.case.memory) if self.table else None
        if walk is None:
            return self._as_executed()
        if self.code.is_error_entry(names) and (len(walk.frames) == 1 or walk.frames[1][1]):
            self._add_caller_of_error_entry(state)
        if len(walk.frames) == 1:
            if self.code.is_user_entry(names) and walk.stop == "end-of-stack":
                return self._end("reached-user-mode", "entry")
            return self._end(walk.stop, "orc")
        address, exact, registers = walk.frames[1]
        if exact:
            return registers, True
        self.frames.append([address, False, {"orc"}])
        caller = self._name(address, False)
        if self.code.begins_a_stack(caller):
            return self._at_thread_start()
        if self.code.is_error_entry(names) and self.code.leaves_pt_regs(caller):
            # pt_regs is not whole yet; ORC knows the interrupt frame behind the return address.
            if len(walk.frames) > 2 and walk.frames[2][1]:
                return walk.frames[2][2], True
            return self._end(walk.stop if len(walk.frames) == 2 else "lost", "orc")
        if self.code.leaves_pt_regs(caller):
            return self._at_pt_regs(registers["rsp"])
        return registers, False

    def _from_switch_to_asm(self, state):
        """i386's __switch_to_asm keeps struct inactive_task_frame (asm/switch_to.h) on top of either stack: flags, esi,
        edi, ebx, ebp and the return address, which is the next one behind a call of it; what is not there any more, or
        not yet, is in the registers."""
        sp, start = state["esp"], self.elf.address_of("__switch_to_asm")
        for slot in range(sp, sp + 4 * 64, 4):
            address = self.case.memory.word(slot) or 0
            code = self.elf.code_at(address - 5, 5)
            if code[:1] == b"\xe8" and (address + int.from_bytes(code[1:], "little")) & 0xffffffff == start:
                saved = {name: slot - 4 * i for i, name in enumerate(("ebp", "ebx", "edi", "esi"), 1)}
                registers = {name: self.case.memory.word(at) for name, at in saved.items() if at >= sp}
                self.frames.append([address, False, {"inactive"}])
                return {**state, **registers, "eip": address, "esp": slot + 4}, False
        return self._end("lost", "gdb")

    def _as_executed(self):
        """The state that the guest went to when it was let run on, where that was done (judges/gdb/entry_truth.py)."""
        if len(self.frames) != 1 or not self.case.entered_from:
            return self._end("lost", "gdb")
        if "user" in self.case.entered_from:
            return self._end("reached-user-mode", "executed")
        self.executed = True
        return dict(self.case.entered_from), True

    def _add_caller_of_error_entry(self, state):
        """The kernel's tables skip the code that called error_entry once that saves the registers. Its return address
        is in rsi and then on the stack again: PUSH_AND_CLEAR_REGS save_ret=1 (arch/x86/entry/calling.h)."""
        for address in (state.get("rsi"), self.case.memory.word(state["rsp"])):
            if address and self.code.leaves_pt_regs(self._name(address, False)):
                self.frames.append([address, False, {"entry"}])
                return

    def _return_to(self, state, slot, way):
        address, word = self.case.memory.word(slot), POINTER[self.case.arch]
        if address is None:
            return self._end("truncated", way)
        if self.code.leaves_pt_regs(self._name(address, False)) or self.code.begins_a_stack(self._name(address, False)):
            self.frames.append([address, False, {way}])
            return self._at_pt_regs(slot + word) if self.code.leaves_pt_regs(self._name(address, False)) else \
                self._at_thread_start()
        self.frames.append([address, False, {way}])
        return {**state, PC[self.case.arch]: address, SP[self.case.arch]: slot + word}, False


def add_orc(truth):
    """Marks the frames that ORC's walk has too, from both ends."""
    if not truth.orc:
        return
    theirs = [frame[:2] for frame in truth.orc.frames]
    for mine, other in zip(truth.frames, theirs):
        if (mine[0], mine[1]) != other:
            break
        mine[2].add("orc")
    for mine, other in zip(reversed(truth.frames), reversed(theirs)):
        if (mine[0], mine[1]) != other:
            break
        mine[2].add("orc")
    if truth.orc.stop == truth.stop:
        truth.stop_ways.add("orc")


def judge(case, truth, elf):
    """(verdict, text): "same", "differs" (ringside finds another stack) or "lost" (the other ways do not reach)."""
    # Where entry code comes from user mode or goes back to it, the kernel's tables say that the stack ends: both are
    # right.
    if truth.stop_ways == {"entry"} and case.stop == "end-of-stack" == (truth.orc and truth.orc.stop):
        truth.stop, truth.stop_ways = "end-of-stack", {"entry", "orc"}
    mine = [(frame.address, frame.exact) for frame in case.frames] + [case.stop]
    theirs = [(frame[0], frame[1]) for frame in truth.frames] + [truth.stop]
    lines = []
    for i in range(max(len(mine), len(theirs))):
        left = mine[i] if i < len(mine) else None
        right = theirs[i] if i < len(theirs) else None

        def show(item):
            if not isinstance(item, tuple):
                return str(item or "")
            name = (elf.names_at(item[0] if item[1] else item[0] - 1) or ["?"])[0]
            return f"{item[0]:#x} {'pc' if item[1] else 'call'} {name}"
        lines.append(f"{'  ' if left == right else '* '}{show(left):64} | {show(right)}")
    if truth.stop == "lost" or (truth.stop in ("truncated", "stack-not-copied") and truth.stop != case.stop):
        return ("same-as-far" if mine[:len(theirs) - 1] == theirs[:-1] else "lost"), "\n".join(lines)
    if mine != theirs:
        return "differs", "\n".join(lines)
    wrong = [f for f in case.frames if elf.code_at(f.address, 1) and  # not in a module
             f.function not in elf.names_at(f.address if f.exact else f.address - 1)]
    if wrong:
        return "differs", f"{wrong[0]}: not a name of the vmlinux there"
    return "same", ""


def write(case, truth):
    for frame, (_, _, ways) in zip(case.frames, truth.frames):
        frame.ways = set(ways)
    case.stop_ways = set(truth.stop_ways)
    case.write_expected()


def write_differing(case, truth, elf):
    """The other ways' stack as the expected one, which ringside misses."""
    names = {(frame.address, frame.exact): frame.function for frame in case.frames}
    frames = []
    last_interrupt = max((i for i, f in enumerate(truth.frames) if f[1] and i), default=0)
    for i, (address, exact, ways) in enumerate(truth.frames):
        kind = "interrupt" if i < last_interrupt else "kernel"
        at = address if exact else address - 1
        name = names.get((address, exact))
        if name not in elf.names_at(at):
            name = elf.function_at(at)
        frames.append(Frame(address, exact, name, kind, ways))
    case.frames, case.stop, case.stop_ways, case.wrong = frames, truth.stop, set(truth.stop_ways), {}
    case.write_expected()


def main():
    vmlinux, report, *paths = shlex.split(os.environ["CONFIRM"])
    elf = Elf(vmlinux)
    table = orc.Table(elf) if ".orc_unwind" in elf.sections else None
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        gdb_stack.start(vmlinux, elf, folder, os.environ.get("CONFIRM_MODULES", "").splitlines())
        for name in paths:
            case = Case(name)
            signed = signed_addresses.strip(case, elf)
            truth = Truth(case, elf, table, folder).build()
            for address, _, ways in truth.frames:
                ways |= {"pac"} if address in signed else set()
            add_orc(truth)
            verdict, text = judge(case, truth, elf)
            if verdict == "same":
                write(case, truth)
            elif verdict == "differs" and os.environ.get("CONFIRM_WRONG"):
                write_differing(case, truth, elf)
            results[name] = [verdict, text]
    with open(report, "w") as file:
        json.dump(results, file, indent=1)


main()
