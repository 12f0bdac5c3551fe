#!/usr/bin/env python3
"""Faults, system calls and interrupts stand on the user stack that led to them, in a kernel that ringside knows nothing of.

    joined_test.py --ringside PROGRAM [--arch amd64|i386] [--engines tcg,gdb,qmp] [--busy 3000]

Debian's kernel, with --os none and --user-elf, runs programs/entries.cpp, whose source says which stack is expected.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or the program not be built.
"""
import argparse
import sys
import time

from ringside_tests.harness import every_engine, launched, limits, linux_guest, linux_program, user_program
from ringside_tests.judges import entry_stacks

WORKLOAD = "entries"


def run(options, folder):
    user_program.require_tools()
    deadline = time.monotonic() + options.limit
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    program = user_program.build(options.arch, folder, WORKLOAD, options=["-fasynchronous-unwind-tables"])
    paths["INITRD"] = str(user_program.add_to_initrd(paths["INITRD"], folder, program))
    failures = []
    with every_engine.boot_linux(options, folder, paths) as guest:
        for engine in options.engines:
            recording = every_engine.record(options, engine, guest, paths["VMLINUZ"], folder, deadline,
                                            ["--samples", str(options.busy), *limits.ENOUGH_TIME,
                                             "--os", "none", "--user-elf", str(program)])
            lines = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "--no-inline", "-i",
                                       str(recording), "-o", "-").splitlines()
            before, stacks = entry_stacks.since_known(entry_stacks.in_order(lines))
            summary, wrong = entry_stacks.check(entry_stacks.count(stacks), options.busy // 20, options.percent)
            print("\n    ".join([f"{options.arch}, {engine}: {before} samples before its stack is known", *summary]))
            failures += [f"{engine}: {line}" for line in wrong]
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every_engine.add_options(parser)
    parser.add_argument("--busy", type=int, default=3000, help="samples wanted of each engine (default 3000)")
    parser.add_argument("--percent", type=float, default=95.0, help="that stand on their user stack (default 95)")
    options = parser.parse_args()
    options.workload, options.cpus = WORKLOAD, 1
    options.engines = options.engines or ("tcg", "gdb")
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
