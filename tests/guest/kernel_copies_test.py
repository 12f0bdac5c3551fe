#!/usr/bin/env python3
"""Kernel code that runs at another address than its own, in a second mapping and in a copy, has its function's name.

    kernel_copies_test.py --ringside PROGRAM

A kernel of a few lines (programs/kernel_copies.S) runs one function where it is linked, one in a second mapping, and one
in a copy, for a third of its instructions each. A loop of two instructions takes QEMU more or less time by where its host
code happens to lie: in 16 guests a share was 26 to 42 %.

A recording whose shares are wrong has to say itself that the host has bent them; then another one is made.
Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the kernel cannot be built, or the host is too busy.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

from ringside_tests.harness import folded, launched, limits, machine
from ringside_tests.judges import findings

SOURCE = pathlib.Path(__file__).resolve().parent / "programs" / "kernel_copies.S"
FUNCTIONS = ("linked", "mapped", "copied")


def build(folder):
    kernel = folder / "kernel.elf"
    subprocess.run(["clang", "--target=i386-unknown-none-elf", "-nostdlib", "-static", "-fuse-ld=lld", "-Wl,-Ttext=0x101000",
                    "-Wl,--image-base=0x100000", "-Wl,-e,start", str(SOURCE), "-o", str(kernel)], check=True)
    return kernel


def run(options, folder, deadline):
    kernel = build(folder)
    recording = folder / "ringside.data"
    base = ["qemu-system-i386", *machine.BASE[1:]]
    with machine.Machine(kernel, "", cpus=1, memory=64, base=base) as guest:
        launched.read_back(options.ringside, deadline, "record", "--gdb", guest.gdb, "--kernel", str(kernel), "--interval", "2",
                           "--samples", str(options.busy), "-o", str(recording))
    stacks = folded.parse(launched.folded_text(options.ringside, recording, deadline))
    total = sum(count for _, count in stacks)
    found = findings.Findings(options.ringside, deadline)
    for name in FUNCTIONS:
        share = 100 * sum(count for stack, count in stacks if stack[-1] == name) / max(total, 1)
        whole = 100 * sum(count for stack, count in stacks if stack[-3:] == ("start", "main", name)) / max(total, 1)
        print(f"{name}: {share:.2f} % of {total} samples, {whole:.2f} % below main")
        line = f"{name} has {share:.2f} % of the samples, {whole:.2f} % below main, not 33.33 %: {sorted(stacks)[:8]}"
        if abs(share - whole) > 1:
            found.add(line)
        elif abs(share - 100 / 3) > options.points:
            found.add_shares([line], recording)
    return found.verdict()


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--busy", type=int, default=1000, help="samples wanted (default 1000)")
    parser.add_argument("--points", type=float, default=15.0, help="how far a share may be off")
    limits.add_option(parser)
    parser.add_argument("--tries", type=int, default=1, help="at most, where those before say that they are bent")
    return parser.parse_args()


def main():
    if missing := [tool for tool in ("clang", "ld.lld", "qemu-system-i386") if not shutil.which(tool)]:
        print(f"there is no {', '.join(missing)}")
        return launched.SKIPPED
    return launched.truthful("ringside-copies-", parse_options(), run)


if __name__ == "__main__":
    sys.exit(main())
