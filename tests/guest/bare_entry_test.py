#!/usr/bin/env python3
"""Stacks of interrupt handlers whose entry code leaves the interrupted pc in the processor's register.

    bare_entry_test.py --ringside PROGRAM [--engines gdb,tcg,qmp] [ARCH …]          riscv64 aarch64

The kernel (kernels/bare_entry.c) is built with frame pointers and without. No table describes its entry code. Stacks of
the handler go on into the task that was interrupted, with nothing left out, and the handler's frames are an interrupt's.
Where the register has another task's pc by then, the stack ends at the entry code: no function of one task is on a stack
of the other.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 QEMU or a compiler is not there (skipped).
"""
import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import time

from ringside_tests.harness import launched, limits, linux_program
from ringside_tests.harness.linux_guest import NoNetwork

KERNELS = pathlib.Path(__file__).resolve().parent / "kernels"
ARCHES = {
    # where the kernel is linked, clang's options, QEMU's
    "riscv64": (0x80000000, ["--target=riscv64-unknown-elf", "-march=rv64imac", "-mabi=lp64", "-mcmodel=medany"],
                ["-M", "virt", "-bios", "none"]),
    "aarch64": (0x40200000, ["--target=aarch64-unknown-elf", "-mgeneral-regs-only"], ["-M", "virt", "-cpu", "cortex-a57"]),
}
KINDS = {"fp": "-fno-omit-frame-pointer", "nofp": "-fomit-frame-pointer"}
TASKS = (["one_spin", "one_chain", "task_one", "_start"], ["two_spin", "two_chain", "task_two", "start_two"])
ENTRIES = ("trap_entry", "vectors")


def build(arch, kind, folder):
    base, options, _ = ARCHES[arch]
    kernel = folder / f"bare_entry-{kind}.elf"
    # -g gives on_timer() a .debug_frame, and the entry code none.
    subprocess.run(["clang", *options, KINDS[kind], "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-nostdlib",
                    "-static", "-fuse-ld=lld", "-fno-optimize-sibling-calls", "-fno-unwind-tables",
                    "-fno-asynchronous-unwind-tables", f"-Wl,--defsym=BASE={base:#x},--defsym=OFFSET=0", "-T",
                    str(KERNELS / "machine.ld"), "-o", str(kernel), str(KERNELS / "bare_entry.c")],
                   check=True, stdin=subprocess.DEVNULL)
    return kernel


def judge(samples):
    """(stacks by the handler's part that ran, the right ones; the wrong ones)."""
    seen, right, wrong = collections.Counter(), collections.Counter(), collections.Counter()
    for sample in samples:
        if sample.get("disposition") != "sampled":
            continue
        stack = sample["stacks"][0]
        names = [frame["functions"][0] if frame["functions"] else frame["address"] for frame in stack["frames"]]
        at = next((i for i, name in enumerate(names) if name in ENTRIES), None)
        if at is None:
            continue
        below = names[at + 1:]
        part = names[0] if names[0] in ("handler_work", "late_work") else "other"
        seen[part] += 1
        whole = any(below and below == task[-len(below):] for task in TASKS)
        marked = all(frame["kind"] == "interrupt" for frame in stack["frames"][:at + 1])
        cut = not below and stack["stop"] == "register not known"
        good = (whole and marked) or (part != "handler_work" and cut)
        right[part] += good
        if not good:
            wrong[" < ".join(names) + ": " + stack["stop"]] += 1
    return seen, right, wrong


def check(options, arch, kind, engine, folder):
    kernel = build(arch, kind, folder)
    command = [f"qemu-system-{arch}", *ARCHES[arch][2], "-accel", "tcg", "-display", "none", "-no-reboot", "-nodefaults", "-m", "64",
               "-kernel", str(kernel), "-serial", "stdio"]
    how = ["--engine", engine, "--kernel", str(kernel), "--after", "bare entry: ready", "--interval", "1.3", "--samples",
           str(options.samples)]
    deadline = time.monotonic() + options.limit
    recording = launched.record(str(options.ringside), how, command, folder, deadline)
    text = launched.read_back(str(options.ringside), deadline, "export", "--format", "json-lines", "-i", str(recording), "-o", "-")
    seen, right, wrong = judge(map(json.loads, text.splitlines()))
    print(f"{arch}, {kind}, {engine}: {right.total()} of {seen.total()} stacks of the handler are right; {dict(seen)}")
    failures = [f"{arch}, {kind}, {engine}: {count} times {text}" for text, count in wrong.most_common(5)]
    return failures + [f"{arch}, {kind}, {engine}: {seen[part]} stacks of {part}" for part in ("handler_work", "late_work")
                       if seen[part] < 5]


def run(options, folder):
    needed = ["clang", "ld.lld", *(f"qemu-system-{arch}" for arch in options.arches)]
    if missing := [tool for tool in needed if not shutil.which(tool)]:
        raise NoNetwork(f"there is no {', '.join(missing)}")
    return [failure for arch in options.arches for kind in KINDS for engine in options.engines
            for failure in check(options, arch, kind, engine, folder)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--engines", type=lambda text: text.split(","), default=["tcg"])
    parser.add_argument("--samples", type=int, default=1500)
    parser.add_argument("arches", nargs="*", metavar="ARCH", help="default: both")
    limits.add_option(parser, limits.STEP)
    options = parser.parse_args()
    options.arches = options.arches or list(ARCHES)
    if unknown := set(options.arches) - set(ARCHES):
        parser.error(f"no architecture {', '.join(unknown)}")
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
