#!/usr/bin/env python3
"""A round of Asterinas' JSON is one moment of every vCPU, and `profile --one-shot` shows every vCPU, on a host that keeps
the guest waiting: beside busy loops (--loops), three for each processor unless told otherwise.

Exit status: 0 as it should be, 1 not.
"""
import argparse
import json
import os
import sys

from ringside_tests.harness import busy_loops, guest_options, limits, program

ROUNDS = 30


def profile(options, guest, folder, *arguments):
    """(what ringside said, failures as lines)."""
    command = [options.ringside, "profile", *guest_options.attach_options(options, guest), "--kernel", options.kernel, *arguments]
    with program.Program(command, os.path.join(folder, "log")) as ringside:
        if ringside.wait_end(limits.STEP) is None:
            return ringside.said(), [f"profile {' '.join(arguments)} does not end"]
        status = ringside.process.returncode
        return ringside.said(), [f"profile {' '.join(arguments)} ends with {status}"] if status else []


def rounds(options, guest, folder):
    """Failures, as lines."""
    output = os.path.join(folder, "rounds.json")
    said, failures = profile(options, guest, folder, "--samples", str(ROUNDS), "--interval", "0.02s", "-o", output)
    if failures:
        return [*failures, said]
    with open(output, encoding="utf-8") as file:
        captures = json.load(file)["stack_traces"]
    whole = sum(set(capture) == {str(n) for n in range(options.cpus)} for capture in captures)
    print(f"{len(captures)} captures for {ROUNDS} rounds, {whole} of all {options.cpus} vCPUs")
    print("\n".join(line for line in said.splitlines() if "waited for a processor" in line))
    return [] if len(captures) == whole == ROUNDS else [f"{len(captures)} captures, {whole} of all vCPUs, {ROUNDS} wanted", said]


def one_shot(options, guest, folder):
    """Failures, as lines. A vCPU's stack follows the line with its number."""
    said, failures = profile(options, guest, folder, "--one-shot")
    lines = said.splitlines()
    for vcpu in range(options.cpus):
        at = [n for n, line in enumerate(lines) if line.startswith(f"vCPU {vcpu}")]
        if len(at) != 1 or not (": idle" in lines[at[0]] or lines[at[0] + 1].startswith("  0: ")):
            failures.append(f"--one-shot shows no state of vCPU {vcpu}")
    return [*failures, said] if failures else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    guest_options.add(parser)
    parser.add_argument("--loops", type=int, default=3 * len(os.sched_getaffinity(0)))
    options = parser.parse_args()

    def run(options, guest, folder):
        with busy_loops.BusyLoops(options.loops):
            return rounds(options, guest, folder) + one_shot(options, guest, folder)
    return guest_options.check(options, "rounds", run)


if __name__ == "__main__":
    sys.exit(main())
