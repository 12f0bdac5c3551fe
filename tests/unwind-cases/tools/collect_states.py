#!/usr/bin/env python3
"""Collects test cases from a run that tests/guest/gdb_backtrace_test.py --confirm --keep kept: of what its classes show
and no case proves in the same function, and of entry code that was let run on.

    export PYTHONPATH=tests/python
    collect_states.py --ringside PROGRAM --arch amd64|i386 --from RUN --output FOLDER [--entry N] [--each N]
"""
import argparse
import collections
import os
import pathlib
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
import classes  # noqa: E402
import collect  # noqa: E402
import mark_wrong  # noqa: E402
from elf_image import Elf  # noqa: E402
from unwind_case import Case  # noqa: E402
from ringside_tests.harness import linux_guest  # noqa: E402
from ringside_tests.judges.gdb import confirmed_stacks, gdb_classes, kept_states, kernel_code  # noqa: E402


def choose(options, judge, pairs, symbols):
    """The pairs to keep: some of each class and function that no case shows, and some of each place in entry code.
    A case's images do not hold modules."""
    def in_module(pair):
        return any(start <= address < end for address, _ in gdb_classes.kernel_frames(pair.ringside)
                   for start, end in symbols.module_ranges)

    chosen, counts = [], collections.Counter()
    for pair in sorted(pairs, key=lambda pair: len(pair.ringside["frames"])):
        found = judge.classify(pair)
        if not pair.is_confirmed() or in_module(pair):
            continue
        key, most = None, 0
        proof = judge.proof(found) if found.kind == gdb_classes.GDB else None
        if found.kind == gdb_classes.GDB and (proof is None or proof.function not in found.functions):
            key, most = str(found), options.each
        elif seen := pair.gdb.get("entered_from"):
            origin = "user" if "user" in seen else "kernel"
            if counts[origin] < options.entry // 2:
                key, most = (origin, gdb_classes.kernel_frames(pair.ringside)[0]), 1
                counts[origin] += counts[key] == 0
        if key and counts[key] < most:
            counts[key] += 1
            chosen.append(pair)
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--arch", required=True)
    parser.add_argument("--from", dest="run", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--entry", type=int, default=0,
                        help="cases in entry code, each at another address, half of them entered from user mode")
    parser.add_argument("--each", type=int, default=2, help="cases of each class and function (default 2)")
    parser.add_argument("--gdb", default="gdb-multiarch")
    options = parser.parse_args()
    paths = linux_guest.fetch(arch=options.arch, debug_modules=True)
    options.vmlinux, options.recording = paths["VMLINUX"], options.run / kept_states.RECORDING
    symbols, samples, probes, verdicts = kept_states.read(paths, options.run)
    pairs, _ = gdb_classes.pair_up(samples, probes, verdicts)
    code = kernel_code.KernelCode(options.vmlinux)
    code.add_modules(symbols.module_ranges, described=True)
    chosen = choose(options, gdb_classes.Judge(options.arch, symbols, code), pairs, symbols)
    seen = {(pair.time_ns, pair.vcpu): pair.gdb.get("entered_from") for pair in chosen}
    elf = Elf(options.vmlinux)
    with tempfile.TemporaryDirectory(prefix="ringside-cases-") as work:
        work = pathlib.Path(work)
        numbers = {}
        for path in collect.extract(options, work / "all", "--random", 1000000):
            registers = Case(path).registers
            numbers[registers["time_ns"], registers["vcpu"]] = int(path.stem)
        keys = {f"{numbers[key]:06}": key for key in seen}
        paths = collect.extract(options, work / "final", "--sample", ",".join(str(numbers[key]) for key in seen))
        for path in paths:
            confirmed_stacks.write_entered_from(Case(path), seen[keys[path.stem]])
        kept = 0
        for name, (verdict, text) in collect.confirm(options, paths, work / "report").items():
            case = Case(name)
            if verdict != "same":
                print(f"left out: {case.name}: {verdict}\n{text}")
                case.path.unlink()
                continue
            class_name = classes.class_of(case, elf)
            case.rename(f"{class_name}-{case.name}")
            case.class_name, case.class_text = class_name, classes.describe(class_name, case, elf)
            case.write_expected()
            mark_wrong.mark(options.ringside, case.path)
            kept += 1
        shutil.copytree(work / "final", options.output, dirs_exist_ok=True)
    print(f"{kept} cases in {options.output}")


if __name__ == "__main__":
    main()
