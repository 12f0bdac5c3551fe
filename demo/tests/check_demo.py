#!/usr/bin/env python3
"""Boots a workload and checks that it ends well and that the shares the kernel measures are those of demo/truth.

The median over all vCPUs counts, of one run or of all runs so far: what else the host does is added to whichever function it
interrupts, and bends some runs by ten points.
"""
import argparse
import re
import statistics
import sys

from guest import EXIT_SUCCESS, Guest
from truth import Truth

TOLERANCE = 2.0  # percentage points
MEASURED = re.compile(r"ringside-demo: measured vcpu=(\d+) function=(.*) share=([\d.]+) calls=(\d+)")
PROCESS = re.compile(r"ringside-demo: process vcpu=\d+ pid=\d+ name=(\S+) share=([\d.]+)")


def boot(options) -> str:
    with Guest(options.elf, options.workload, options.smp, options.seconds) as qemu:
        output, _ = qemu.communicate()
    assert qemu.returncode == EXIT_SUCCESS, f"exit status {qemu.returncode}, expected {EXIT_SUCCESS}\n{output}"
    return output


def check_lines(output: str, options, truth: Truth) -> None:
    lines = output.splitlines()
    ready = f"ringside-demo: ready workload={options.workload} cpus={options.smp}"
    assert lines.count(ready) == 1, f"not exactly one line {ready!r}\n{output}"
    assert lines.count("ringside-demo: done") == 1, f"no done line\n{output}"
    vcpus = {int(match[1]) for match in MEASURED.finditer(output)}
    expected = set(range(options.smp)) if truth.busy == "all" else {int(truth.busy)}
    assert vcpus == expected, f"measured on vCPUs {vcpus}, expected {expected}"


def differences(outputs: list[str], truth: Truth) -> list[str]:
    """Lines for the shares that are off by more than the tolerance."""
    measured: dict[str, list[float]] = {}
    processes: dict[str, list[float]] = {}
    for output in outputs:
        for match in MEASURED.finditer(output):
            measured.setdefault(match[2], []).append(float(match[3]))
        for match in PROCESS.finditer(output):
            processes.setdefault(match[1], []).append(float(match[2]))
    # A function too short to be measured (skid_pass) is left out on both sides.
    whole = sum(truth.shares[name] for name in measured) / 100
    expected = {name: share / whole for name, share in truth.shares.items() if name in measured}
    wrong = []
    for kind, shares, known in (("function", measured, expected), ("process", processes, truth.processes)):
        for name, true_share in known.items():
            share = statistics.median(shares.get(name, [0]))
            if abs(share - true_share) > TOLERANCE:
                wrong.append(f"{kind} {name}: measured {share:.2f}, true {true_share:.2f}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("elf")
    parser.add_argument("workload")
    parser.add_argument("--smp", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--runs", type=int, default=20, help="at most")
    options = parser.parse_args()
    truth = Truth(options.workload)
    outputs = []
    for _ in range(options.runs):
        outputs.append(boot(options))
        check_lines(outputs[-1], options, truth)
        wrong = differences(outputs, truth)
        if not wrong or not differences(outputs[-1:], truth):
            return 0
    print("\n".join(wrong), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
