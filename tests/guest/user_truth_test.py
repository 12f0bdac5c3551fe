#!/usr/bin/env python3
"""A static user program of known shares in a Linux guest of any architecture: each engine finds the shares.

    user_truth_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--cpus 1] [--busy 10000]

The program (programs/shares.cpp) runs once a vCPU and measures its functions by the guest's own counter; beside it the
guest does nothing. The engines sample it in turn. A user sample counts for the function that its pc is in.

Where an engine's shares are wrong, those of its recordings count that do not say themselves that the host has bent them.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or the program not be built, or the host
bends all recordings of an engine.
"""
import argparse
import collections
import json
import sys
import time

from ringside_tests.harness import every_engine, launched, linux_guest, linux_program, user_program
from ringside_tests.judges import user_shares

# A function that is in no way slower than the others takes five, three or two tenths; translated code may lie badly.
LOOPS = {"half": 50.0, "third": 30.0, "fifth": 20.0}
LOOPS_POINTS = 3.0


def sample(options, guest, kernel, functions, folder, deadline):
    """User samples by function, for each engine: of all recordings, and of those that do not say that they are bent."""
    counts = {engine: collections.Counter() for engine in options.engines}
    silent = {engine: collections.Counter() for engine in options.engines}
    until = ["--samples", str(options.slice), "--duration", f"{options.seconds:g}"]
    longest = 0.0
    while time.monotonic() + 1.5 * longest < deadline and any(sum(one.values()) < options.busy for one in counts.values()):
        start = time.monotonic()
        for engine, count in counts.items():
            recording = every_engine.record(options, engine, guest, kernel, folder, deadline, until)
            text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "-i",
                                      str(recording), "-o", "-")
            found = user_shares.user_samples(functions, map(json.loads, text.splitlines()))
            count.update(found)
            if not launched.says_bent(options.ringside, recording, deadline):
                silent[engine].update(found)
        longest = max(longest, time.monotonic() - start)
    return counts, silent


def judge(options, engine, count, silent, expected):
    """(summary line, failures)."""
    line, wrong = user_shares.check(engine, count, expected, options.busy, options.points)
    bent = sum(count.values()) - sum(silent.values())
    line += f"; {bent} of recordings that say that they are bent"
    if not wrong or not bent:
        return line, wrong
    if sum(silent.values()) < options.busy / 2:  # too few to judge
        raise launched.HostTooBusy(f"{line}: the host is too busy")
    return line, user_shares.check(engine, silent, expected, options.busy / 2, options.points)[1]


def run(options, folder):
    user_program.require_tools()
    deadline = time.monotonic() + options.limit
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    program = user_program.build(options.arch, folder)
    paths["INITRD"] = str(user_program.add_to_initrd(paths["INITRD"], folder, program))
    with every_engine.boot_linux(options, folder, paths) as guest:
        while guest.serial().count("shares: ") < options.cpus and time.monotonic() < deadline:
            time.sleep(0.1)
        expected = user_shares.measured_shares(guest.serial())
        counts, silent = sample(options, guest, paths["VMLINUZ"], user_shares.functions(program), folder, deadline)
    too_busy = None
    failures = [f"{name}: the guest measured {expected[name]:.2f} % for {share:g} % of the turns"
                for name, share in LOOPS.items() if abs(expected[name] - share) > LOOPS_POINTS]
    for engine, count in counts.items():
        try:
            line, wrong = judge(options, engine, count, silent[engine], expected)
        except launched.HostTooBusy as error:
            too_busy = error
            continue
        print(f"{options.arch}, {line}")
        failures += wrong
    if too_busy and not failures:
        raise too_busy
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every_engine.add_options(parser)
    parser.add_argument("--busy", type=int, default=10000, help="user samples wanted of each engine (default 10000)")
    parser.add_argument("--slice", type=int, default=1000, help="samples of one recording (default 1000)")
    parser.add_argument("--seconds", type=float, default=10, help="a recording ends then at the latest (default 10)")
    parser.add_argument("--points", type=float, default=2.0, help="how far a share may be off (default 2)")
    options = parser.parse_args()
    options.workload = user_program.WORKLOAD
    options.engines = options.engines or ("tcg", "gdb")
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
