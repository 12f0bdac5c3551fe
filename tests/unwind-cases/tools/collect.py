#!/usr/bin/env python3
"""Collects test cases of one kernel from a recording that was made with --keep-captures.

    collect.py --ringside PROGRAM --vmlinux FILE --recording FILE --output FOLDER [--pool N] [--leaf PATTERN …]
               [--quota CLASS=N …] [--wrong N]

A pool of captures is extracted at random and around the leaf functions that match a pattern; confirm.py confirms
their stacks in gdb; of those that are confirmed as far as their quota goes the ones with leaves of their own are
extracted again, so that their common image is small. --wrong N also keeps N cases that ringside gets wrong, with the
confirmed stack as the expected one and a line "wrong".
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import classes  # noqa: E402
import mark_wrong  # noqa: E402
import unwind_case  # noqa: E402
from elf_image import Elf  # noqa: E402
from unwind_case import Case  # noqa: E402

TOOLS = pathlib.Path(__file__).resolve().parent
ENTRY_LEAVES = {
    "x86_64": ["asm_*", "entry_*", "error_*", "common_interrupt_return", "ret_from_fork", "__x86_*", "__switch_to_asm",
               "restore_*", "syscall_*", "*memcpy*", "*memset*", "clear_page*", "copy_user*", "__get_user*",
               "__put_user*", "sysvec_*", "native_*", "read_hpet", "*irqsave*"],
    "aarch64": ["el0t_*", "el1h_*", "vectors", "tramp_*", "ret_to_kernel", "ret_to_user", "cpu_switch_to",
                "ret_from_fork", "call_on_irq_stack", "*memcpy*", "*memset*", "clear_page*", "copy_page*",
                "__arch_copy*"],
    "i386": ["asm_*", "entry_*", "common_interrupt*", "handle_exception*", "restore_*", "__switch_to_asm",
             "ret_from_fork", "*memcpy*", "*memset*", "clear_page*", "__copy_user*", "__get_user*", "__put_user*",
             "__x86_*", "do_softirq*", "call_on_stack", "*SYSENTER*", "syscall_*", "irq_*"],
    "riscv64": ["handle_exception", "ret_from_exception", "ret_from_fork", "__switch_to", "call_on_irq_stack", "*memcpy*", "*memset*",
                "clear_page*", "__asm_copy*", "fallback_*", "do_irq*", "*exception*"]}


def run(*command, **keywords):
    return subprocess.run([str(word) for word in command], check=True, text=True, **keywords)


def extract(options, folder, *choice):
    """Extracts a choice of captures; the cases' files, none if nothing was chosen. Cases that a minimized image changes
    are left out."""
    command = [options.ringside, "case", "extract", "-i", options.recording, "--kernel", options.vmlinux, "-o", folder]
    result = subprocess.run([str(word) for word in [*command, *choice]], check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        print(result.stderr.strip()[:400], file=sys.stderr)
    for changed in re.findall(r"^ringside: (.*): its minimized images give another stack", result.stderr, re.MULTILINE):
        print(f"left out: its minimized image changes {changed}")
        os.unlink(changed)
    return unwind_case.files(folder)


def confirm(options, paths, report, wrong=False):
    """{path: (verdict, text)}, and writes what is confirmed into the cases."""
    verdicts = {}
    for start in range(0, len(paths), 400):
        words = [options.vmlinux, report, *paths[start:start + 400]]
        report.unlink(missing_ok=True)  # gdb's exit status does not tell whether the script got to its end
        environment = {**os.environ, "CONFIRM": " ".join(map(str, words)), "CONFIRM_WRONG": "1" if wrong else ""}
        run(options.gdb, "-nx", "-batch", "-x", TOOLS / "confirm.py", env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        verdicts.update(json.loads(pathlib.Path(report).read_text()))
    return verdicts


def in_turn(cases, key):
    """The cases so ordered that each key has had its turn before one has its next."""
    turns = collections.Counter()
    ordered = []
    for case in cases:
        ordered.append((turns[key(case)], case))
        turns[key(case)] += 1
    return [case for _, case in sorted(ordered, key=lambda item: item[0])]


def pick(options, cases, elf):
    """The cases to keep, with their classes: per class first the ones whose leaf address is new, the smallest first."""
    by_class = collections.defaultdict(list)
    for case in cases:
        by_class[classes.class_of(case, elf)].append(case)
    kept = []
    for name, group in by_class.items():
        group.sort(key=lambda case: sum(len(piece.data) for piece in case.memory.pieces))
        seen, first, rest = set(), [], []
        for case in group:
            interrupted = tuple(frame.address for frame in case.frames[1:] if frame.exact)
            key = case.frames[0].address if name in ("entry", "thunk") else (elf.start_of(case.pc), interrupted[:1])
            (rest if key in seen else first).append(case)
            seen.add(key)
        if name == "entry":
            first = in_turn(first, lambda case: (elf.start_of(case.pc), len(case.frames) > 1))
        quota = options.quota.get(name, classes.QUOTA.get(name, 0))
        kept += [(name, case) for case in (first + rest)[:quota]]
        print(f"{name}: {len(group)} confirmed, {len(first)} different, {min(quota, len(group))} kept")
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--vmlinux", required=True, type=os.path.abspath)
    parser.add_argument("--recording", required=True, type=os.path.abspath)
    parser.add_argument("--output", required=True, type=os.path.abspath)
    parser.add_argument("--gdb", default="gdb-multiarch")
    parser.add_argument("--pool", type=int, default=1200, help="captures at random (default 1200)")
    parser.add_argument("--per-leaf", type=int, default=60, help="captures for each pattern of leaves (default 60)")
    parser.add_argument("--leaf", action="append", help="patterns of leaf functions, instead of the architecture's")
    parser.add_argument("--quota", action="append", default=[], help="CLASS=N")
    parser.add_argument("--wrong", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.quota = {name: int(count) for name, count in (text.split("=") for text in options.quota)}
    elf = Elf(options.vmlinux)
    with tempfile.TemporaryDirectory(prefix="ringside-cases-") as work:
        work = pathlib.Path(work)
        paths = extract(options, work / "random", "--random", options.pool, "--seed", options.seed)
        for i, leaf in enumerate(options.leaf or ENTRY_LEAVES[elf.arch]):
            paths += extract(options, work / f"leaf{i}", "--where", f"leaf={leaf}", "--random", options.per_leaf,
                             "--seed", options.seed)
        paths += extract(options, work / "incomplete", "--incomplete", "--random", options.per_leaf * 2)
        unique = {path.name: path for path in paths}
        report = work / "report"
        verdicts = confirm(options, list(unique.values()), report)
        print(dict(collections.Counter(verdict for verdict, _ in verdicts.values())))
        kept = pick(options, [Case(path) for path, (verdict, _) in verdicts.items() if verdict == "same"], elf)

        wrong_paths = [path for path, (verdict, _) in verdicts.items() if verdict == "differs"]
        seen, wrong = collections.Counter(), []
        for path in wrong_paths:  # one of each leaf address, few of each leaf function
            case = Case(path)
            start = elf.start_of(case.pc)
            if case.pc not in seen and seen[start] < 3:
                wrong.append(case)
            seen[case.pc] += 1
            seen[start] += 1
        wrong = wrong[:options.wrong]
        if wrong:
            confirm(options, [case.path for case in wrong], report, wrong=True)
            for case in wrong:
                case.read_expected()
        kept += [(classes.class_of(case, elf), case) for case in wrong]
        numbers = ",".join(str(int(case.name)) for _, case in kept)
        extract(options, work / "final", "--sample", numbers)
        for name, case in kept:
            final = work / "final" / case.path.name
            if not final.exists():
                continue
            final_case = Case(final)
            final_case.take_stack(case)
            final_case.class_name, final_case.class_text = name, classes.describe(name, final_case, elf)
            final_case.rename(f"{name}-{case.name}")
            final_case.write_expected()
            mark_wrong.mark(options.ringside, final_case.path)
        shutil.copytree(work / "final", options.output, dirs_exist_ok=True)
    print(f"{len(kept)} cases in {options.output}, {len(wrong)} of them unlike what extract found")


if __name__ == "__main__":
    main()
