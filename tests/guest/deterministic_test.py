#!/usr/bin/env python3
"""Recordings of one guest with --deterministic are the same: their folded output, byte for byte.

    deterministic_test.py --ringside PROGRAM (--kernel ELF [--workload NAME] | --linux) [--runs 2] [--samples 1000]

The guest of the bundled kernel runs until the samples are taken; Debian's boots from its vmlinuz, with KASLR (QEMU gives it
the same random numbers each time). That the profile is of something is tested as well: more than one stack, and few
unknown frames. With --replay the first run is recorded by QEMU (-icount …,rr=record) and the others replay it; it is the same
as its replays. Exit status: 0 they are the same, 1 not, 77 the Linux guest cannot be fetched.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from ringside_tests.harness import folded, launched, limits, linux_guest, machine

SKIPPED = 77
UNKNOWN_LIMIT_PERCENT = 5.0  # kernels before they have set up their tables


def command(options, folder):
    serial = ["-serial", f"file:{folder}/serial.log", "-smp", "1"]
    if options.linux:
        paths = linux_guest.fetch(vmlinux=False)
        return [*linux_guest.base(paths), *serial, "-m", "512", "-kernel", paths["VMLINUZ"], "-initrd", paths["INITRD"],
                "-append", linux_guest.append(paths, "mixed")]
    return [*machine.BASE, *serial, "-m", "128", "-kernel", str(options.kernel),
            "-append", f"workload={options.workload} seconds=0"]


def record(options, number, folder, deadline):
    """One recording, and its folded text."""
    place = folder / str(number)
    place.mkdir()
    qemu = command(options, place)
    if options.replay:
        log = folder / "replay.log"
        qemu += ["-nic", "none", "-icount", f"shift=1,rr={'record' if number == 1 else 'replay'},rrfile={log}"]
    how = ["--deterministic", "--interval", f"{options.interval:g}ms", "--samples", str(options.samples),
           *(["--after", options.after] if options.after else [])]
    recording = launched.record(options.ringside, how, qemu, place, deadline)
    return recording, launched.folded_text(options.ringside, recording, deadline)


def changes(options, recordings):
    """Lines: where `diff` finds two recordings unequal. One that follows the host has a test."""
    words = [options.ringside, "diff", *map(str, recordings[:2]), "--format", "json"]
    compared, = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)["comparisons"]
    if options.replay:
        return [f"a run that QEMU records follows the host, and diff has the test {compared['test']}"
                for _ in range(compared["test"]["name"] == "exact")]
    lines = [] if compared["test"]["name"] == "exact" else [f"diff has the test {compared['test']}"]
    return lines + [f"{function['name']}: {function['self']['verdict']}" for function in compared["functions"]
                    if function["self"]["verdict"] != "equal"]


def differences(texts):
    """The differences of the later runs from run 1, as lines."""
    first = collections.Counter(dict(folded.parse(texts[0])))
    lines = []
    for number, text in enumerate(texts[1:], 2):
        if text == texts[0]:
            continue
        other = collections.Counter(dict(folded.parse(text)))
        apart = sum(((first - other) + (other - first)).values())
        lines.append(f"run {number} differs from run 1: {apart} samples are in other stacks")
        changed = ((first - other) + (other - first)).most_common(5)
        lines += [f"    {first[stack]} and {other[stack]}  {';'.join(stack)}" for stack, _ in changed]
    return lines


def is_a_profile(options, text):
    stacks = folded.parse(text)
    total = sum(count for _, count in stacks)
    unknown = sum(count for stack, count in stacks if any(frame.startswith("<unknown:") for frame in stack))
    print(f"{total} samples, {len(stacks)} stacks, {unknown} samples with an unknown frame")
    lines = []
    if total != options.samples:
        lines.append(f"{total} samples, not {options.samples}")
    if len(stacks) < 5:
        lines.append(f"only {len(stacks)} different stacks")
    if unknown * 100 > UNKNOWN_LIMIT_PERCENT * total:
        lines.append(f"{unknown} of {total} samples have an unknown frame")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", type=os.path.abspath)
    parser.add_argument("--workload", default="chains")
    parser.add_argument("--linux", action="store_true")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--replay", action="store_true", help="let QEMU record the first run, and replay it")
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--interval", type=float, default=0.2, help="milliseconds of the guest's time")
    parser.add_argument("--after", help="sample only after the guest has shown this on its serial port")
    limits.add_option(parser)
    options = parser.parse_args()
    if not options.linux and not options.kernel:
        parser.error("give --kernel or --linux")
    machine.exit_on_signals()
    deadline = time.monotonic() + options.limit
    try:
        with tempfile.TemporaryDirectory(prefix="ringside-deterministic-") as folder:
            runs = [record(options, number, pathlib.Path(folder), deadline) for number in range(1, options.runs + 1)]
            recordings, texts = zip(*runs)
            failures = is_a_profile(options, texts[0]) + differences(texts) + changes(options, recordings)
    except linux_guest.NoNetwork as error:
        print(f"skipped: {error}")
        return SKIPPED
    except (launched.Failed, machine.GuestError, OSError, ValueError) as error:
        failures = [str(error)]
    for line in failures:
        print(line if line.startswith(" ") else f"FAILED: {line}")
    if not failures:
        print(f"{options.runs} runs are the same, byte for byte")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
