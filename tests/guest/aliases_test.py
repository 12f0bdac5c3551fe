#!/usr/bin/env python3
"""One page of code that two processes run at different addresses: a sample's pc is of the process that ran.

    aliases_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--busy 1000]

QEMU translates such a page once. Both processes (programs/aliases.cpp) share one vCPU, so each address has half of the
samples.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or the program not be built.
"""
import argparse
import json
import sys
import time

from ringside_tests.harness import every_engine, launched, limits, linux_guest, linux_program, user_program
from ringside_tests.judges import user_shares

WORKLOAD = "aliases"
PAGE = 4096
ELSEWHERE = 0x30000000  # as in programs/aliases.cpp


def places(here, samples):
    """How many user samples there are in the page at `here`, in the page elsewhere, and in neither."""
    counts = [0, 0, 0]
    for address in user_shares.user_addresses(samples):
        in_page = [address is not None and start <= address < start + PAGE for start in (here, ELSEWHERE)]
        counts[in_page.index(True) if any(in_page) else 2] += 1
    return counts


def run(options, folder):
    user_program.require_tools()
    deadline = time.monotonic() + options.limit
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    program = user_program.build(options.arch, folder, WORKLOAD)
    paths["INITRD"] = str(user_program.add_to_initrd(paths["INITRD"], folder, program))
    here, _ = user_program.range_of(program, "turn")
    failures = []
    with every_engine.boot_linux(options, folder, paths) as guest:
        for engine in options.engines:
            recording = every_engine.record(options, engine, guest, paths["VMLINUZ"], folder, deadline,
                                            ["--samples", str(options.busy), *limits.ENOUGH_TIME,
                                             "--os", "none"])  # else frames tell where their file has them
            text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "-i",
                                      str(recording), "-o", "-")
            first, second, neither = places(here, map(json.loads, text.splitlines()))
            total = first + second + neither
            print(f"{options.arch}, {engine}: {total} user samples: {first} at {here:#x}, {second} at {ELSEWHERE:#x}")
            if total < options.busy / 2:
                failures.append(f"{engine}: {total} user samples, at least {options.busy // 2} wanted")
            elif neither > total / 100 or abs(first - second) > total * options.points / 100:
                failures.append(f"{engine}: {first} samples at one address, {second} at the other, {neither} elsewhere")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every_engine.add_options(parser)
    parser.add_argument("--busy", type=int, default=1000, help="samples wanted of each engine (default 1000)")
    parser.add_argument("--points", type=float, default=20.0, help="how far apart the two may be (default 20)")
    options = parser.parse_args()
    options.workload, options.cpus = WORKLOAD, 1
    options.engines = options.engines or ("tcg",)
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
