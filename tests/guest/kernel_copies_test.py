#!/usr/bin/env python3
"""Kernel code that runs at another address than its own, in a second mapping and in a copy, has its function's name.

    kernel_copies_test.py --ringside PROGRAM

A kernel of a few lines (programs/kernel_copies.S) runs one function where it is linked, one in a second mapping, and one
in a copy, for a third of its time each.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the kernel cannot be built.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from ringside_tests.harness import folded, launched, limits, machine

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
    failures = []
    for name in FUNCTIONS:
        share = 100 * sum(count for stack, count in stacks if stack[-1] == name) / max(total, 1)
        whole = 100 * sum(count for stack, count in stacks if stack[-3:] == ("start", "main", name)) / max(total, 1)
        print(f"{name}: {share:.2f} % of {total} samples, {whole:.2f} % below main")
        if abs(share - 100 / 3) > options.points or abs(share - whole) > 1:
            failures.append(f"{name} has {share:.2f} % of the samples, {whole:.2f} % below main, not 33.33 %")
    for line in failures:
        print(f"FAILED: {line}: {sorted(stacks)[:8]}")
    return 1 if failures else 0


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--busy", type=int, default=1000, help="samples wanted (default 1000)")
    parser.add_argument("--points", type=float, default=6.0, help="how far a share may be off")
    limits.add_option(parser)
    parser.add_argument("--tries", type=int, default=1, help="pass if one of so many tries tells the truth")
    return parser.parse_args()


def main():
    options = parse_options()
    machine.exit_on_signals()
    if missing := [tool for tool in ("clang", "ld.lld", "qemu-system-i386") if not shutil.which(tool)]:
        print(f"there is no {', '.join(missing)}")
        return 77
    with tempfile.TemporaryDirectory(prefix="ringside-copies-") as folder:
        try:
            return launched.in_one_of(options.tries, options.limit,
                                      lambda deadline: run(options, pathlib.Path(folder), deadline))
        except (launched.Failed, machine.GuestError, OSError, ValueError, subprocess.SubprocessError) as error:
            print(f"FAILED: {error}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
