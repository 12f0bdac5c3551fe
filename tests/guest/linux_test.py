#!/usr/bin/env python3
"""Profiles Debian's Linux kernel: its stacks have names and dd's write path is to be seen.

    linux_test.py --ringside PROGRAM [--boot bzimage|elf]

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched (skipped).
"""
import argparse
import os
import sys
import time

from ringside_tests.harness import folded, launched, limits, linux_guest, linux_program, machine
from ringside_tests.judges import write_path


def record(options, paths, folder, deadline):
    elf = options.boot == "elf"
    qemu = machine.BASE + ["-smp", str(options.cpus), "-m", "1024" if elf else "512", "-serial", "stdio",
                           "-kernel", paths["VMLINUX" if elf else "VMLINUZ"], "-initrd", paths["INITRD"],
                           "-append", "console=ttyS0 quiet nokaslr workload=dd"]
    how = ["--samples", str(options.samples), "--interval", "2", "--after", "ringside-guest: ready"]
    if not elf:
        how += ["--kernel", paths["VMLINUX"]]
    return launched.record(options.ringside, how, qemu, folder, deadline)


def run(options, folder):
    paths = linux_guest.fetch()
    deadline = time.monotonic() + options.limit
    recording = record(options, paths, folder, deadline)
    return write_path.check(folded.parse(launched.folded_text(options.ringside, recording, deadline)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--boot", choices=["bzimage", "elf"], default="bzimage")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--samples", type=int, default=1500)
    limits.add_option(parser)
    options = parser.parse_args()
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
