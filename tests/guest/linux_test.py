#!/usr/bin/env python3
"""Profiles Debian's Linux kernel: its stacks have names and dd's write path is to be seen.

    linux_test.py --ringside PROGRAM [--boot bzimage|elf]

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched (skipped).
"""
import argparse
import collections
import itertools
import os
import re
import sys
import time

from ringside_tests.harness import folded, launched, linux_guest, linux_program, machine
from ringside_tests.judges import truth

WRITE_PATH = ("ksys_write", "vfs_write")
WRITE_PATH_PERCENT = 10.0
UNKNOWN_PERCENT = 2.0


def record(options, paths, folder, deadline):
    elf = options.boot == "elf"
    qemu = machine.BASE + ["-smp", str(options.cpus), "-m", "1024" if elf else "512", "-serial", "stdio",
                           "-kernel", paths["VMLINUX" if elf else "VMLINUZ"], "-initrd", paths["INITRD"],
                           "-append", "console=ttyS0 quiet nokaslr workload=dd"]
    how = ["--samples", str(options.samples), "--interval", "2", "--after", "ringside-guest: ready"]
    if not elf:
        how += ["--kernel", paths["VMLINUX"]]
    return launched.record(options.ringside, how, qemu, folder, deadline)


def kernel_part(stack):
    """The frames above user code, which is a stripped static busybox's: its functions have no names."""
    def is_user(frame):
        address = re.fullmatch(re.escape(truth.UNKNOWN) + r"0x([0-9a-f]+)>", frame)
        return frame.startswith("busybox+") or (address is not None and int(address[1], 16) < 1 << 63)
    return list(itertools.dropwhile(is_user, stack))


def check(stacks):
    """What is wrong with the folded stacks of a guest that runs dd, as lines; empty when nothing is."""
    total = sum(count for _, count in stacks)
    failures = []
    unknown = sum(count for stack, count in stacks
                  if any(frame.startswith(truth.UNKNOWN) for frame in kernel_part(stack)))
    if truth.percent(unknown, total) >= UNKNOWN_PERCENT:
        failures.append(f"{truth.percent(unknown, total):.2f} % of the samples have an unknown frame")
    writing = sum(count for stack, count in stacks if WRITE_PATH in zip(stack, stack[1:]))
    print(f"{total} samples, {truth.percent(writing, total):.1f} % under {';'.join(WRITE_PATH)}, "
          f"{truth.percent(unknown, total):.2f} % with an unknown frame")
    if not total or truth.percent(writing, total) < WRITE_PATH_PERCENT:
        failures.append(f"{truth.percent(writing, total):.1f} % of the samples are under {';'.join(WRITE_PATH)}, "
                        f"{WRITE_PATH_PERCENT:g} % wanted")
    if failures:
        most = collections.Counter(dict(stacks)).most_common(truth.SHOWN)
        failures += [f"    {count:7}  {';'.join(stack)}" for stack, count in most]
    return failures


def run(options, folder):
    paths = linux_guest.fetch()
    deadline = time.monotonic() + options.limit
    recording = record(options, paths, folder, deadline)
    return check(folded.parse(launched.folded_text(options.ringside, recording, deadline)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--boot", choices=["bzimage", "elf"], default="bzimage")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--samples", type=int, default=1500)
    parser.add_argument("--limit", type=float, default=150, help="seconds that all of it may take (default 150)")
    options = parser.parse_args()
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
