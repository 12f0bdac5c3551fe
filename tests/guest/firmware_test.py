#!/usr/bin/env python3
"""Samples in firmware go on into the code that it has interrupted (riscv64, OpenSBI).

    firmware_test.py --ringside PROGRAM [--engines gdb,tcg,qmp]

The kernel (kernels/firmware_calls.c) calls its firmware from two functions. Its stack is virtual memory, two pages in the
other order, with frame pointers and without. Below [firmware] each stack has one of two chains of functions, whole but where firmware's
entry code is saving registers or its exit code restores them: there the function that was interrupted is known.

A machine without firmware and without a kernel repeats a trap at address 0 for good: that is no firmware, and both kinds
of engines report it.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 QEMU or a compiler is not there (skipped).
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

from ringside_tests.harness import launched, limits, linux_program
from ringside_tests.harness.linux_guest import NoNetwork

KERNELS = pathlib.Path(__file__).resolve().parent / "kernels"
KINDS = {"fp": ["-fno-omit-frame-pointer"], "nofp": ["-fomit-frame-pointer"]}
CHAINS = [["[firmware]", "sbi", "ask_firmware", caller, "run", "start_hart"] for caller in ("far_down", "near_by")]
ENGINES = ("tcg", "gdb", "qmp")
VCPUS = 2
# The calls are short: entry and exit code run for half of the time. The first sample of a vCPU in other code shows where the
# frame is. Until the kernel is found, by a sample in its own mode, its functions have no names.
FEWEST_WHOLE = 0.4
FEWEST_NAMED = 0.85


def build(kind, folder):
    kernel = folder / f"firmware_calls-{kind}.elf"
    subprocess.run(["clang", "--target=riscv64-unknown-elf", "-march=rv64imac", "-mabi=lp64", "-mcmodel=medany", *KINDS[kind],
                    "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-nostdlib", "-static", "-fuse-ld=lld",
                    "-fno-optimize-sibling-calls", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables",
                    "-Wl,--defsym=BASE=0x80200000,--defsym=OFFSET=0", "-T", str(KERNELS / "machine.ld"), "-o", str(kernel),
                    str(KERNELS / "firmware_calls.c")], check=True, stdin=subprocess.DEVNULL)
    return kernel


def stacks_of(text):
    """The names of each sample's frames, from the leaf, where the leaf is firmware."""
    for line in text.splitlines():
        sample = json.loads(line)
        if sample.get("disposition") != "sampled":
            continue
        frames = sample["stacks"][0]["frames"]
        if frames and frames[0]["kind"] == "firmware":
            yield ["[firmware]"] + [frame["functions"][0] if frame["functions"] else frame["address"] for frame in frames[1:]]


def check(options, kind, engine, folder):
    kernel = build(kind, folder)
    command = ["qemu-system-riscv64", "-M", "virt", "-accel", "tcg", "-display", "none", "-no-reboot", "-nodefaults", "-m", "128",
               "-smp", str(VCPUS), "-kernel", str(kernel), "-serial", "stdio"]
    how = ["--engine", engine, "--kernel", str(kernel), "--after", "firmware calls: ready", "--interval", "2.3", "--samples",
           str(options.samples)]
    deadline = time.monotonic() + options.limit
    recording = launched.record(str(options.ringside), how, command, folder, deadline)
    text = launched.read_back(str(options.ringside), deadline, "export", "--format", "json-lines", "-i", str(recording), "-o", "-")
    seen = collections.Counter(" < ".join(stack) for stack in stacks_of(text))
    right = {" < ".join(chain): seen.pop(" < ".join(chain), 0) for chain in CHAINS}
    good = sum(right.values())
    whole = good + seen.total()
    print(f"{kind}, {engine}: {good} of {whole} stacks of firmware are whole; {sorted(right.values())}")
    failures = [f"{kind}, {engine}: no more than {count} of {text}" for text, count in right.items() if count < whole / 10]
    if whole < options.samples / 3:
        failures.append(f"{kind}, {engine}: {whole} samples in firmware only")
    named = good + sum(seen[" < ".join(CHAINS[0][:length])] for length in range(2, len(CHAINS[0])))
    if good < FEWEST_WHOLE * whole or named < FEWEST_NAMED * whole:
        failures += [f"{kind}, {engine}: {count} times {text}" for text, count in seen.most_common(5)]
    # Others end early, and never elsewhere.
    unnamed = re.compile(r"\[firmware\]( < 0x802[0-9a-f]+)?$")
    allowed = [chain[:length] for chain in CHAINS for length in range(2, len(chain))]
    failures += [f"{kind}, {engine}: wrong: {text}" for text in seen
                 if text.split(" < ") not in allowed and not unnamed.match(text)]
    return failures


def check_trap_loop(options, engine, folder):
    command = ["qemu-system-riscv64", "-M", "virt", "-bios", "none", "-accel", "tcg", "-display", "none", "-nodefaults", "-m", "64"]
    deadline = time.monotonic() + options.limit
    recording = launched.record(str(options.ringside), ["--engine", engine, "-F", "100", "--duration", "2"], command, folder, deadline,
                                may_be_empty=True)
    # The plugin sees no code: there is no sample, and the warning says why.
    read = subprocess.run([options.ringside, "report", "--header", "-i", recording], stdin=subprocess.DEVNULL, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limits.STEP)
    if read.returncode != (1 if engine == "tcg" else 0):
        return [f"trap loop, {engine}: report ended with {read.returncode}: {read.stdout}"]
    report = read.stdout
    if engine == "tcg":
        wanted = ["the plugin saw no code"]
    else:
        wanted = ["repeats a trap for good", "100.00%.* <unknown:0x0>\n"]
    unwanted = [r"\[firmware\]", "the host is busy", "shares are bent"] if engine == "tcg" else [r"\[firmware\]"]
    return [f"trap loop, {engine}: no {text} in:\n{report}" for text in wanted if not re.search(text, report)] + \
           [f"trap loop, {engine}: {text} in:\n{report}" for text in unwanted if re.search(text, report)]


def run(options, folder):
    needed = ["clang", "ld.lld", "qemu-system-riscv64"]
    if missing := [tool for tool in needed if not shutil.which(tool)]:
        raise NoNetwork(f"there is no {', '.join(missing)}")
    failures = [failure for kind in KINDS for engine in options.engines for failure in check(options, kind, engine, folder)]
    return failures + [failure for engine in ("gdb", *({"tcg"} & set(options.engines))) for failure in check_trap_loop(options, engine, folder)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--engines", type=lambda text: text.split(","), default=["tcg"])
    parser.add_argument("--samples", type=int, default=400)
    limits.add_option(parser, limits.STEP)
    options = parser.parse_args()
    if unknown := set(options.engines) - set(ENGINES):
        parser.error(f"no engine {', '.join(unknown)}")
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
