#!/usr/bin/env python3
"""Collects test cases of the bundled kernel (demo/) from a recording that was made with --keep-captures. Its source
confirms them: demo/truth/WORKLOAD.txt tells all stacks that a workload can have.

    export PYTHONPATH=tests/python
    collect_demo.py --ringside PROGRAM --kernel ELF --recording FILE --truth FILE --output FOLDER [--each N]

A frame is confirmed by `source` where the stack's functions are legal as a whole and the code in front of the return
address calls the function above, and by `hardware` where the processor has pushed it as an interrupted rip.
"""
import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import classes  # noqa: E402
import collect  # noqa: E402
import mark_wrong  # noqa: E402
from elf_image import Elf  # noqa: E402
from unwind_case import Case  # noqa: E402
from ringside_tests.judges import legal_stacks  # noqa: E402

KERNEL_CODE = 0x08  # its selector: demo/kernel/arch


def demangled(names):
    result = subprocess.run(["c++filt"], input="\n".join(names), stdout=subprocess.PIPE, text=True, check=True)
    return result.stdout.splitlines()


def calls(elf, address, callee):
    """Whether the code in front of a return address calls the function: directly, or through a register."""
    code = elf.code_at(address - 5, 5)
    if code[:1] == b"\xe8":
        return callee in elf.names_at(address + int.from_bytes(code[1:], "little", signed=True))
    return len(code) == 5 and any(code[at] == 0xff and code[at + 1] >> 3 & 7 == 2 for at in (2, 3))


def was_interrupted(memory, address):
    """Whether the processor has pushed the address as that of interrupted kernel code (Intel SDM volume 3, 6.14.2: ss,
    rsp, rflags, cs, rip), with a stack pointer that lies further up the same stack."""
    for start, _, data, _ in memory.pieces:
        for at in range(0, len(data) - 39, 8):
            rip, cs, flags, rsp = (memory.word(start + at + 8 * i) for i in range(4))
            if rip == address and cs == KERNEL_CODE and flags & 2 and start + at < rsp <= start + len(data):
                return True
    return False


def confirm(case, elf, truth):
    """Writes by what each frame is confirmed; False if one is not, or the end."""
    names = demangled([frame.function for frame in case.frames])
    if case.stop != "end-of-stack" or not truth.is_legal(list(reversed(names))):
        return False
    for i, frame in enumerate(case.frames):
        if i == 0:
            frame.ways = {"registers"}
        elif frame.exact:
            frame.ways = {"hardware"} if was_interrupted(case.memory, frame.address) else set()
        else:
            frame.ways = {"source"} if calls(elf, frame.address, case.frames[i - 1].function) else set()
    case.stop_ways = {"source"} if names[-1] == "thread_start" else set()
    return bool(case.stop_ways) and all(frame.ways for frame in case.frames)


def class_of(case, elf):
    interrupted = [frame for frame in case.frames[1:] if frame.exact]
    places = [classes._place(case, elf, frame.address) for frame in interrupted or case.frames[:1]]
    place = next(filter(None, places), "")
    if len(interrupted) > 1:
        return "nested"
    return ("irq-" + place if place else "irq") if interrupted else place or "thread"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", dest="vmlinux", required=True, type=os.path.abspath)
    parser.add_argument("--recording", required=True, type=os.path.abspath)
    parser.add_argument("--truth", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--each", type=int, default=3, help="cases of each class (default 3)")
    options = parser.parse_args()
    elf, truth = Elf(options.vmlinux), legal_stacks.parse(options.truth.read_text())
    with tempfile.TemporaryDirectory(prefix="ringside-cases-") as work:
        work = pathlib.Path(work)
        kept, counts, leaves = {}, collections.Counter(), set()
        for path in collect.extract(options, work / "all", "--random", 1000000):
            case = Case(path)
            if not confirm(case, elf, truth):
                counts["not confirmed"] += 1
                continue
            name = class_of(case, elf)
            if counts[name] < options.each and (name, case.pc) not in leaves:
                counts[name] += 1
                leaves.add((name, case.pc))
                kept[int(case.name)] = name
        print(dict(counts))
        for path in collect.extract(options, work / "final", "--sample", ",".join(map(str, kept))):
            case = Case(path)
            if not confirm(case, elf, truth):
                path.unlink()
                continue
            name = kept[int(case.name)]
            case.rename(f"{name}-{case.name}")
            case.class_name, case.class_text = name, classes.describe(name, case, elf)
            case.write_expected()
            mark_wrong.mark(options.ringside, case.path)
        shutil.copytree(work / "final", options.output, dirs_exist_ok=True)


if __name__ == "__main__":
    main()
