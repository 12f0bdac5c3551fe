#!/usr/bin/env python3
"""Code of a BPF program has the name that the kernel's kallsyms gives it, and its callers.

    bpf_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--engines tcg,gdb]

A program (programs/bpf_spin.cpp) loads a BPF program, runs it and says its name, whose tag it has from the kernel. The
kernel compiles it before ringside attaches. No file of the host has its code.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or the program not be built.
"""
import argparse
import collections
import json
import re
import sys
import time

from ringside_tests.harness import every_engine, launched, limits, linux_guest, linux_program, user_program

WORKLOAD = "bpf_spin"
NAME = re.compile(r"ringside-bpf: (bpf_prog_[0-9a-f]{16}_spinner)")
CALLER = "bpf_test_run"
NAMED_PERCENT = 95.0  # the first samples of a recording may be from before ringside looked
WHOLE_PERCENT = 80.0  # from the first one on, which is when the kernel has been found
FOUND_PERCENT = 50.0  # are from then on
LEAST_PERCENT = 30.0  # of the samples are in the program


def judge(name, samples):
    """(kernel samples, leaves by name, for each of the program whether its stack is whole and goes on to its caller)."""
    total, whole, leaves = 0, [], collections.Counter()
    for sample in samples:
        if sample.get("disposition") != "sampled" or sample["level"] != "kernel":
            continue
        total += 1
        stack = sample["stacks"][0]
        names = [frame["functions"][0] if frame["functions"] else None for frame in stack["frames"]]
        leaves[names[0]] += 1
        if names[0] == name:
            whole.append(CALLER in names and stack["stop"] == "reached user mode")
    return total, leaves, whole


def check(options, engine, guest, paths, name, folder, deadline):
    recording = every_engine.record(options, engine, guest, paths["VMLINUZ"], folder, deadline,
                                    ["--samples", str(options.samples), *limits.ENOUGH_TIME])
    text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "-i", str(recording), "-o", "-")
    total, leaves, whole = judge(name, map(json.loads, text.splitlines()))
    mine, unknown = leaves[name], leaves[None]
    print(f"{options.arch}, {engine}: of {total} kernel samples {mine} in {name}, {sum(whole)} of them with whole stacks; "
          f"{unknown} in code without a name")
    failures = [f"{engine}: {count} samples in {leaf}" for leaf, count in leaves.items()
                if leaf and re.fullmatch(r"bpf_prog_[0-9a-f]{16}_.*", leaf) and leaf != name]
    if mine < total * LEAST_PERCENT / 100 or mine < (mine + unknown) * NAMED_PERCENT / 100:
        failures.append(f"{engine}: {mine} samples of {total} have the program's name, {unknown} have none")
    since_found = whole[whole.index(True):] if True in whole else whole
    if sum(since_found) < len(since_found) * WHOLE_PERCENT / 100 or sum(whole) < mine * FOUND_PERCENT / 100 or not mine:
        failures.append(f"{engine}: {sum(whole)} of {mine} stacks go on to {CALLER} and end at user mode")
    return failures


def run(options, folder):
    user_program.require_tools()
    deadline = time.monotonic() + options.limit
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    program = user_program.build(options.arch, folder, WORKLOAD)
    paths["INITRD"] = str(user_program.add_to_initrd(paths["INITRD"], folder, program))
    with every_engine.boot_linux(options, folder, paths) as guest:
        guest.wait_serial("_spinner", limits.STEP)
        found = NAME.search(guest.serial())
        if not found:
            raise launched.Failed(f"the guest loaded no BPF program: {guest.serial()[-400:]}")
        return [failure for engine in options.engines
                for failure in check(options, engine, guest, paths, found[1], folder, deadline)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every_engine.add_options(parser)
    parser.add_argument("--samples", type=int, default=1000, help="of each engine (default 1000)")
    options = parser.parse_args()
    options.workload, options.cpus = WORKLOAD, 1
    options.engines = options.engines or ("tcg",)
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
