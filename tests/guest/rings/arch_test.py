#!/usr/bin/env python3
"""The guest library on three more architectures: a kernel (kernels/ring) samples itself, and ringside reads its rings live.

    arch_test.py --ringside PROGRAM --arch i386|aarch64|riscv64

Two CPUs each work on three chains of calls, and their timers take samples. With each sample the kernel says which chain it
works on; after each round of work an event says how many samples it has taken of each, and when. So all of this is exact:
every stack is one that the chain can have, also in a prologue or in a function without a frame, for the guest runs
instruction by instruction; and between two events there are as many samples as the guest has taken. Shares are those that
the kernel prints at the end, times those of its clock.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 QEMU or a compiler is not there (skipped).
"""
import argparse
import bisect
import collections
import json
import pathlib
import re
import shutil
import statistics
import sys
import time

import ring_kernel
from ringside_tests.harness import launched, limits, linux_program, machine
from ringside_tests.harness.linux_guest import NoNetwork
from ringside_tests.judges import report_totals

QEMU = ["-display", "none", "-nodefaults", "-no-reboot", "-smp", "2", "-m", "128", "-serial", "stdio"]
# Machines, and whether they are interrupted at each instruction.
CASES = {"i386": [("i386", True), ("i386", False)],
         "aarch64": [("aarch64", True), ("aarch64", False)],
         "riscv64": [("riscv64", True), ("riscv64", False), ("riscv64-machine", True)]}
TAKEN = re.compile(r"taken: cpu (\d) round (\d+) half (\d+) third (\d+) fifth (\d+) other (\d+) lost (\d+)")
POINTS = 2.0
LEAST_ROUNDS = 20


class Recording:
    """Samples and rounds of one vCPU each, in the order of their times."""

    def __init__(self, lines):
        self.samples, self.rounds, self.others = ([], []), ([], []), []
        for line in lines:
            if "event" in line:
                self.rounds[line["vcpu"]].append(line)
            elif line.get("disposition") == "sampled":
                self.samples[line["vcpu"]].append(line)
            elif "disposition" in line:
                self.others.append(line)

    def total(self):
        return sum(map(len, self.samples))


def numbers_of(event):
    """(round, nanoseconds, samples by work)."""
    values = [event["fields"][f"n{n}"] for n in range(2 + len(ring_kernel.WORKS))]
    return values[0], values[1], values[2:]


def stack_of(sample):
    frames = sample["stacks"][0]["frames"]
    return tuple(frame["functions"][0] if frame["functions"] else frame["address"] for frame in reversed(frames))


def check_stacks(recording, everywhere):
    """everywhere: the guest is interrupted at each instruction, not only where QEMU's blocks begin."""
    wrong, seen, recovered = collections.Counter(), collections.Counter(), 0
    roots = (set(), set())  # OpenSBI starts any of the two first
    for vcpu, samples in enumerate(recording.samples):
        for sample in samples:
            stack, (walked,) = stack_of(sample), sample["stacks"]
            is_right = (sample["comm"] == ring_kernel.WORKS[sample["pid"] - 1] and sample["tid"] == vcpu + 1
                        and sample["level"] == "kernel" and walked["stop"] == "end of stack"
                        and ring_kernel.is_legal(sample["comm"], stack))
            seen[stack[-1]] += 1
            roots[vcpu].add(stack[0])
            recovered += walked["frames"][1]["rule"] != "the guest itself"
            if not is_right:
                wrong[f"{sample['level']}, {sample['comm']}, {walked['stop']}: {';'.join(stack)}"] += 1
    failures = [f"{sum(wrong.values())} stacks are not as the source says: {wrong.most_common(5)}"] if wrong else []
    if everywhere:
        failures += [f"no sample of {name}" for chain in ring_kernel.CHAINS.values() for name in chain if not seen[name]]
    if sorted(map(sorted, roots)) != sorted([root[0]] for root in ring_kernel.ROOTS):
        failures.append(f"stacks of the two vCPUs begin with {roots}")
    if recovered < sum(seen[name] for name in ring_kernel.LEAVES):
        failures.append(f"ringside has added the caller in {recovered} stacks only")
    return failures, f"{recovered} of them with a caller that frame pointers miss"


def check_counts(recording):
    """Between two rounds of a CPU there are as many samples of each work as it has taken."""
    failures = []
    for vcpu, rounds in enumerate(recording.rounds):
        if len(rounds) < LEAST_ROUNDS:
            failures.append(f"vCPU {vcpu} has {len(rounds)} rounds only")
        times = {work: [sample["time_ns"] for sample in recording.samples[vcpu] if sample["comm"] == work]
                 for work in ring_kernel.WORKS}
        for before, after in zip(rounds[:-1], rounds[1:-1]):  # the recording ends with a sample, in the midst of a round
            (first, _, had), (last, _, has) = numbers_of(before), numbers_of(after)
            taken = [now - then for now, then in zip(has, had)]
            inside = [bisect.bisect_left(times[work], after["time"]) - bisect.bisect_right(times[work], before["time"])
                      for work in ring_kernel.WORKS]
            # As long as the clock's rate is not known, samples have the time of an event.
            most = [bisect.bisect_right(times[work], after["time"]) - bisect.bisect_left(times[work], before["time"])
                    for work in ring_kernel.WORKS]
            if last != first + 1:
                failures.append(f"vCPU {vcpu}: round {last} follows round {first}")
            elif not all(low <= count <= high for low, count, high in zip(inside, taken, most)):
                failures.append(f"vCPU {vcpu}, round {last}: the guest has taken {taken}, and the recording has {inside}")
    return failures[:5]


def check_times(recording, knows_rate):
    """The guest's clock and the recording's go at one rate. One that ringside measures is right after some time."""
    failures, text = [], []
    for vcpu, rounds in enumerate(recording.rounds):
        times = [sample["time_ns"] for sample in recording.samples[vcpu]]
        if times != sorted(times):
            failures.append(f"vCPU {vcpu}: samples are not in the order of their times")
        late = rounds if knows_rate else rounds[len(rounds) // 2:]
        if len(late) < 2:
            continue
        guest = numbers_of(late[-1])[1] - numbers_of(late[0])[1]
        rate = (late[-1]["time"] - late[0]["time"]) / guest if guest > 0 else 0
        pauses = [numbers_of(after)[1] - numbers_of(before)[1] for before, after in zip(rounds, rounds[1:])]
        text.append(f"{rate:.4f}")
        if abs(rate - 1) > (0.01 if knows_rate else 0.03):
            failures.append(f"vCPU {vcpu}: a second of the guest's has {rate:.4f} s in the recording")
        if not 0.8 < statistics.median(pauses) / ring_kernel.ROUND_NS < 10:
            failures.append(f"vCPU {vcpu}: a round has {statistics.median(pauses) / 1e6} ms")
    return failures, f"the guest's second is {' and '.join(text)} s"


def taken_by_guest(log, recording):
    """The last line of each vCPU that the guest has printed in the recording: (round, samples by work, lost)."""
    last = [rounds[-1]["fields"]["n0"] if rounds else 0 for rounds in recording.rounds]
    said = {}
    for line in TAKEN.finditer(log):
        cpu, number, *counts, lost = map(int, line.groups())
        if number <= last[cpu]:
            said[cpu] = number, counts, lost
    if sorted(said) != [0, 1]:
        raise launched.Failed(f"the guest does not say what it has taken: {log[-400:]}")
    return [said[cpu] for cpu in (0, 1)]


def check_shares(recording, log):
    """Shares of all vCPUs, from their first round until what the guest has printed last, by its own counts."""
    taken, got, failures = collections.Counter(), collections.Counter(), []
    for vcpu, (number, counts, lost) in enumerate(taken_by_guest(log, recording)):
        rounds = recording.rounds[vcpu]
        _, _, had = numbers_of(rounds[0])
        for work, now, then in zip(ring_kernel.WORKS, counts, had):
            taken[work] += now - then
        end = next((event["time"] for event in rounds if event["fields"]["n0"] == number), 0)
        got.update(sample["comm"] for sample in recording.samples[vcpu] if rounds[0]["time"] < sample["time_ns"] <= end)
        if lost:
            failures.append(f"the guest has lost {lost} samples")
    text = []
    for work in ring_kernel.WORKS:
        expected, share = (100 * counts[work] / max(sum(counts.values()), 1) for counts in (taken, got))
        text.append(f"{work} {share:.1f} % (guest: {expected:.1f} %)")
        if abs(share - expected) > POINTS:
            failures.append(f"{work} has {share:.2f} % of the samples, and the guest has taken {expected:.2f} %")
    if sum(got.values()) < recording.total() / 4:
        failures.append(f"the guest has printed its counts of {sum(got.values())} of {recording.total()} samples")
    return failures, ", ".join(text)


def check_report(options, recording, deadline):
    text, _, failures = report_totals.read(options.ringside, recording, deadline)
    numbers = report_totals.statistics(text)
    failures += [f"{numbers.get(name)} samples are {name}" for name in ("lost", "skipped", "failed", "idle") if numbers.get(name) != 0]
    failures += [line.strip() for line in text.splitlines() if "warning" in line]
    return failures


def check(options, name, everywhere, folder):
    target = ring_kernel.MACHINES[name]
    kernel = ring_kernel.build(name, folder)
    what, samples = f"{name}, {'each instruction' if everywhere else 'whole blocks'}", options.samples
    deadline = time.monotonic() + options.limit
    path = launched.record(options.ringside, ["--engine", "ring", "--after", ring_kernel.READY, "--samples", str(samples)],
                           [*target.qemu, *QEMU, *machine.tcg(everywhere), "-kernel", str(kernel)], folder, deadline)
    text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "-i", str(path), "-o", "-")
    recording = Recording(json.loads(line) for line in text.splitlines())
    failures, summary = [], []
    for found, line in (check_stacks(recording, everywhere), check_times(recording, target.knows_rate),
                        check_shares(recording, (folder / "record.log").read_text(errors="replace"))):
        failures += found
        summary.append(line)
    failures += check_counts(recording) + check_report(options, path, deadline)
    if recording.total() < samples:
        failures.append(f"{recording.total()} samples, {samples} wanted")
    print(f"{what}: {recording.total()} samples, {'; '.join(summary)}")
    return [f"{what}: {failure}" for failure in failures]


def run(options, folder):
    needed = [*ring_kernel.TOOLS, f"qemu-system-{options.arch}"]
    if missing := [tool for tool in needed if not shutil.which(tool)]:
        raise NoNetwork(f"there is no {', '.join(missing)}")
    failures = []
    for name, everywhere in CASES[options.arch]:
        place = folder / f"{name}-{everywhere}"
        place.mkdir()
        failures += check(options, name, everywhere, place)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--arch", choices=CASES, required=True)
    parser.add_argument("--samples", type=int, default=1500, help="of each recording (default 1500)")
    limits.add_option(parser, limits.STEP)
    return linux_program.exit_status(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
