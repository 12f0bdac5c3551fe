#!/usr/bin/env python3
"""Stacks of a program whose return addresses are signed (pointer authentication), in a Linux guest on arm64.

    signed_test.py --ringside PROGRAM [--engines tcg,gdb] [--busy 2000]

The program (programs/signed.cpp) says itself whether the processor has signed them. Its source says which stacks there
are: leaf or write_nothing, middle, outer, run, _start, and the kernel's above them.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or the program not be built.
"""
import argparse
import collections
import json
import re
import sys
import time

from ringside_tests.harness import every_engine, launched, limits, linux_guest, linux_program, user_program

WORKLOAD = "signed"
LEAVES = ("leaf", "write_nothing")
CALLERS = ("middle", "outer", "run", "_start")


def user_functions(sample):
    """The function names of a sample's user part, leaf first."""
    frames = [frame for stack in sample["stacks"] for frame in stack["frames"] if frame["kind"] == "user"]
    return [frame["functions"][0] if frame["functions"] else frame["address"] for frame in frames]


def is_legal(functions):
    """Whether a stack is one of the program's, from any of its functions down to its start."""
    callers = functions[1:] if functions[:1] and functions[0] in LEAVES else functions
    return bool(functions) and tuple(callers) == CALLERS[len(CALLERS) - len(callers):] and (
        callers == functions or len(callers) == len(CALLERS))


def check(engine, samples, busy):
    """(summary line, failures) of the samples of the program."""
    stacks = {"user": collections.Counter(), "kernel": collections.Counter()}
    for sample in samples:
        if sample.get("disposition") == "sampled" and sample.get("comm") == WORKLOAD:
            stacks[sample["level"]][tuple(user_functions(sample))] += 1
    parts, failures = [], []
    for level, counts in stacks.items():
        total = sum(counts.values())
        wrong = collections.Counter({stack: count for stack, count in counts.items() if not is_legal(list(stack))})
        parts.append(f"{total} samples in {level} mode, {sum(wrong.values())} not as the source says")
        if total < busy / 10:
            failures.append(f"{engine}: {total} samples in {level} mode")
        if sum(wrong.values()) > total / 50:
            failures.append(f"{engine}, {level} mode: {wrong.most_common(3)}")
    return f"{engine}: " + "; ".join(parts), failures


def run(options, folder):
    user_program.require_tools()
    deadline = time.monotonic() + options.limit
    paths = linux_guest.fetch(vmlinux=False, arch="arm64")
    program = user_program.build("arm64", folder, WORKLOAD, options=[
        "-fasynchronous-unwind-tables", "-fno-omit-frame-pointer", "-mbranch-protection=pac-ret+leaf"])
    paths["INITRD"] = str(user_program.add_to_initrd(paths["INITRD"], folder, program))
    failures = []
    with every_engine.boot_linux(options, folder, paths, cpu="max") as guest:
        guest.wait_serial("signed: 0x", limits.STEP)
        for engine in options.engines:
            recording = every_engine.record(options, engine, guest, paths["VMLINUZ"], folder, deadline,
                                            ["--samples", str(options.busy), *limits.ENOUGH_TIME])
            text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "-i",
                                      str(recording), "-o", "-")
            line, wrong = check(engine, map(json.loads, text.splitlines()), options.busy)
            print(line)
            failures += wrong
        bits = re.search(r"signed: 0x([0-9a-f]{4})", guest.serial())
    if not bits or int(bits.group(1), 16) == 0:
        failures.append("the processor has not signed return addresses")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every_engine.add_options(parser)
    parser.add_argument("--busy", type=int, default=2000, help="samples wanted of each engine (default 2000)")
    options = parser.parse_args()
    options.workload, options.cpus, options.arch = WORKLOAD, 1, "arm64"
    options.engines = options.engines or ("tcg", "gdb")
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
