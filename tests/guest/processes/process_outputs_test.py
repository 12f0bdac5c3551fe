#!/usr/bin/env python3
"""Records the bundled kernel's processes and compares what the outputs say of them with the samples, one by one.

    process_outputs_test.py --ringside PROGRAM --kernel ELF --programs FOLDER

The judge is `export --format json-lines`, which sums up nothing. Exit status: 0 as it should be, 1 not, 2 wrong usage.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import sys
import tempfile

from ringside_tests.harness import launched, limits, machine

NOBODY, INTERRUPT = "[unknown]", "[irq]"


def record(options, folder, deadline):
    qemu = machine.BASE + ["-smp", "2", "-m", "256", "-serial", "stdio", "-kernel", options.kernel,
                           "-append", "workload=user seconds=0"]
    how = ["--samples", "1500", "--interval", "2", "--after", "ringside-demo: ready", "--os", "emerald",
           "--programs", options.programs]
    return launched.record(options.ringside, how, qemu, folder, deadline)


def samples_of(text):
    """The samples that have a stack."""
    lines = (json.loads(line) for line in text.splitlines())
    return [line for line in lines if line.get("disposition") == "sampled"]


def owner(sample):
    return f"{sample['comm']}-{sample['pid']}" if "pid" in sample else NOBODY


def is_interrupt(sample):
    return any(frame["kind"] == "interrupt" for frame in sample["stacks"][0]["frames"])


def is_user(sample):
    return sample["level"] == "user"


def folded(text):
    """[(frames, count)] of folded stacks."""
    parsed = (line.rpartition(" ") for line in text.splitlines())
    return [(stack.split(";"), int(count)) for stack, _, count in parsed]


def by_root(text):
    roots = collections.Counter()
    for frames, count in folded(text):
        roots[frames[0]] += count
    return roots


class Outputs:
    """Compares the output of ringside's readers for a recording with its samples."""

    def __init__(self, options, recording, deadline):
        self.read = lambda verb, *arguments: launched.read_back(options.ringside, deadline, verb, "-i", str(recording),
                                                                *arguments)
        self.samples = samples_of(self.read("export", "--format", "json-lines"))
        self.wrong = []

    def expect(self, what, seen, wanted):
        if seen != wanted:
            self.wrong.append(f"{what}: {seen}, not {wanted}")

    def weight(self, key, wanted=lambda sample: True):
        """Weight of the samples by what `key` says of them. One that was due twice has the weight 2."""
        weights = collections.Counter()
        for sample in filter(wanted, self.samples):
            weights[key(sample)] += sample["weight"]
        return weights

    def total(self, *arguments):
        return sum(count for _, count in folded(self.read("export", *arguments)))

    def check_recording(self):
        programs = collections.Counter(sample["comm"] for sample in
                                       {owner(s): s for s in self.samples if "comm" in s}.values())
        self.expect("processes", programs, {"compute.elf": 4, "syscaller.elf": 2})
        joined = sum(len(sample["stacks"]) == 2 for sample in self.samples)
        if joined < len(self.samples) / 10:
            self.wrong.append(f"only {joined} of {len(self.samples)} samples have a stack of user code below the kernel's")

    def check_folded(self):
        self.expect("--by pid", by_root(self.read("export", "--by", "pid")), self.weight(owner))
        self.expect("--by comm", by_root(self.read("export")), self.weight(lambda s: s.get("comm", NOBODY)))
        self.expect("--by none", self.total("--by", "none"), sum(s["weight"] for s in self.samples))
        apart = self.weight(lambda s: INTERRUPT if is_interrupt(s) else owner(s))
        self.expect("--no-irq-join", by_root(self.read("export", "--by", "pid", "--no-irq-join")), apart)

    def check_filters(self):
        levels = self.weight(is_user)
        self.expect("-k", self.total("-k"), levels[False])
        self.expect("-u", self.total("-u"), levels[True])
        for pid, count in self.weight(lambda s: s.get("pid")).items():
            if pid is not None:
                self.expect(f"--pid {pid}", self.total("--pid", str(pid)), count)
        for comm, count in self.weight(lambda s: s.get("comm", NOBODY)).items():
            self.expect(f"--comm {comm}", self.total("--comm", comm), count)
        names = {s["comm"] for s in self.samples if "comm" in s}
        try:
            said = self.read("report", "--comm", "no-such-program")
        except launched.Failed as error:
            said = str(error)
        self.expect("--comm no-such-program names those that there are",
                    [name for name in names if name not in said.partition("there are")[2]], [])

    def check_report(self):
        rows = re.findall(r"^ *[\d.]+% +[\d.]+% +(\d+) +(-?\d+):\S+ +(\S+)$",
                          self.read("report", "-n", "-g", "none", "--sort", "tgid,comm"), re.MULTILINE)
        seen = {f"{comm}-{pid}" if pid != "-1" else comm: int(count) for count, pid, comm in rows}
        self.expect("report --sort tgid,comm", seen, dict(collections.Counter(map(owner, self.samples))))

    def check_emerald(self):
        def root(sample):
            return f"User PID={sample['pid']} ({sample['comm']})" if is_user(sample) else "Kernel"
        text = self.read("export", "--folded-style", "emerald")
        self.expect("--folded-style emerald", by_root(text), self.weight(root))
        user = {name for s in self.samples if len(s["stacks"]) == 2 for frame in s["stacks"][1]["frames"][-1:]
                for name in frame["functions"]}
        mixed = [frames for frames, _ in folded(text) if frames[0] == "Kernel" and user & set(frames)]
        self.expect("--folded-style emerald: user code in the kernel's stacks", mixed, [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=os.path.abspath)
    parser.add_argument("--programs", required=True, type=os.path.abspath)
    options = parser.parse_args()
    machine.exit_on_signals()
    deadline = limits.test_end()
    with tempfile.TemporaryDirectory(prefix="ringside-processes-") as folder:
        try:
            outputs = Outputs(options, record(options, pathlib.Path(folder), deadline), deadline)
            for check in (outputs.check_recording, outputs.check_folded, outputs.check_filters, outputs.check_report,
                          outputs.check_emerald):
                check()
        except launched.Failed as error:
            print(f"FAILED: {error}")
            return 1
    print(f"{len(outputs.samples)} samples: {dict(outputs.weight(owner))}")
    for line in outputs.wrong:
        print(f"WRONG: {line}")
    return 1 if outputs.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
