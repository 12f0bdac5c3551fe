#!/usr/bin/env python3
"""Kernels that stay in firmware's mode are kernels: riscv64's machine mode, aarch64's EL2 and EL3.

    high_mode_test.py --ringside PROGRAM [CASE …]          cases: riscv64 el2 el3

The kernels (kernels/*.c) measure which shares their functions have. By each engine: shares within 3 points
(more where fewer samples came), names, whole stacks, and the kinds of frames. User code (riscv64's task) or a guest
(aarch64's) runs below the kernel.
Then without the kernel's file: code that nothing describes is firmware, and ringside reports it. On a machine that was
started without firmware it is kernel code all the same.

A recording whose shares are wrong has to say itself that the host has bent them, and one that is short that ticks were lost.
Then that engine makes another one.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 QEMU or a compiler is not there, or the host is too busy (skipped).
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from ringside_tests.harness import every_engine, launched, limits, machine
from ringside_tests.judges import findings

KERNELS = pathlib.Path(__file__).resolve().parent / "kernels"
CASES = {
    # QEMU, its options, clang's target, where the kernel is linked, its source, and what runs below it
    "riscv64": (["qemu-system-riscv64", "-M", "virt", "-bios", "none"],
                ["--target=riscv64-unknown-elf", "-march=rv64imac", "-mabi=lp64", "-mcmodel=medany"],
                0x80000000, "riscv64_machine.c", "user"),
    "el2": (["qemu-system-aarch64", "-M", "virt,virtualization=on", "-cpu", "cortex-a57"],
            ["--target=aarch64-unknown-elf", "-mgeneral-regs-only"], 0x40200000, "aarch64_el2.c", "guest"),
    "el3": (["qemu-system-aarch64", "-M", "virt,secure=on", "-cpu", "cortex-a57"],
            ["--target=aarch64-unknown-elf", "-mgeneral-regs-only"], 0x40200000, "aarch64_el2.c", "guest"),
}
# By kernels/work.h: the percentage of the work, of which what runs below the kernel does an eighth, and the word of the
# line with what the kernel measured.
WORK = {"spin_half": (43.75, "half"), "spin_third": (26.25, "third"), "spin_fifth": (17.5, "fifth"), "below": (12.5, "below")}
SPENT = re.compile("spent:" + "".join(rf" {word} (\d+)" for _, word in WORK.values()) + "\n")
CALLERS = {"spin_half": ("device_work", "one_round", "kernel_main", "_start"),
           "spin_third": ("device_work", "one_round", "kernel_main", "_start"),
           "spin_fifth": ("one_round", "kernel_main", "_start")}
TASK = ("task_spin", "task_main")
ENTRY = ("timer_interrupt", "handle_trap", "trap_entry", "vectors")
LEAVES = ("enter_task", "enter_guest")  # about to go, or just back
WORK_POINTS = 12.0  # QEMU's code for the same loop is at most so much slower in one function than in another
POINTS = 3.0  # 2.7 standard deviations of the largest share where all samples came; fewer get more room
DEVIATIONS = 2.7
INTERVAL = 1.5  # ms, of the gdb engine
TEXT_INTERVAL = 4.5  # the monitor's text stops the guest for half a millisecond
WHOLE_PERCENT = 99.0
MODES = {"riscv64": "in machine mode", "el2": "in EL2 or EL3", "el3": "in EL2 or EL3"}


def build(case, folder):
    _, options, base, source, _ = CASES[case]
    kernel = folder / f"{case}.elf"
    subprocess.run(["clang", *options, "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-nostdlib", "-static",
                    "-fuse-ld=lld", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-unwind-tables",
                    "-fno-asynchronous-unwind-tables", f"-Wl,--defsym=BASE={base:#x},--defsym=OFFSET=0",
                    "-T", str(KERNELS / "machine.ld"),
                    "-o", str(kernel), str(KERNELS / source)], check=True, stdin=subprocess.DEVNULL)
    return kernel


class Verdict:
    """Judges one recording. below: the level of what runs below the kernel; sees_level: whether the engine does."""

    def __init__(self, samples, below, sees_level):
        self._below, self._sees_level = below, sees_level
        self.functions, self.wrong, self.levels = collections.Counter(), collections.Counter(), collections.Counter()
        self.busy = self.stacks = self.whole = self.interrupts = 0
        for sample in samples:
            if sample.get("disposition") == "sampled":
                self._judge(sample)

    def _judge(self, sample):
        frames = [frame for stack in sample["stacks"] for frame in stack["frames"]]
        names = [frame["functions"][0] if frame["functions"] else frame["address"] for frame in frames]
        self.busy += 1
        self.levels[sample["level"]] += 1
        if sample["level"] == self._below or names[0] in TASK:
            self.functions["below"] += 1
            self._note(self._is_below(sample["level"], names, frames[0]["kind"]), names)
            return
        self.stacks += 1
        for name in CALLERS:
            self.functions[name] += name in names
        interrupts = [name for name in names if name in ENTRY]
        self.interrupts += bool(interrupts)
        self.functions["below"] += bool(interrupts) and not names[len(interrupts):]
        self._note(self._is_whole(names, frames, interrupts), names)

    def _is_below(self, level, names, kind):
        if not self._sees_level:
            return tuple(names) == TASK[len(TASK) - len(names):]
        return level == kind == self._below and (self._below == "guest" or names[0] in TASK)

    def _is_whole(self, names, frames, interrupts):
        rest = names[len(interrupts):]
        whole_entry = [name for name in ENTRY if name in interrupts]
        in_order = names[:len(interrupts)] == interrupts == whole_entry and (
            not interrupts or interrupts[-1] in ("trap_entry", "vectors"))
        if not in_order or not {frame["kind"] for frame in frames} <= {"kernel", "interrupt"}:
            return False
        if interrupts and not rest or rest[0] in LEAVES and len(rest) == 1:
            return True  # of what runs below the kernel
        spin = CALLERS.get(rest[0])
        return rest[-1] == "_start" and (spin is None or tuple(rest[1:]) == spin)

    def _note(self, is_right, names):
        self.whole += is_right
        if not is_right:
            self.wrong[";".join(reversed(names))] += 1

    def shares(self, measured):
        """(failures of shares, summary line). measured: the percentage of the time by function."""
        total = sum(self.functions.values())
        found = []
        shares = {name: 100 * self.functions[name] / max(total, 1) for name in WORK}
        for name, (work, _) in WORK.items():
            part = measured[name] / 100
            room = max(POINTS, 100 * DEVIATIONS * (part * (1 - part) / max(total, 1)) ** 0.5)
            if abs(shares[name] - measured[name]) > room:
                found.append(f"{name} has {shares[name]:.1f} % of the samples, and {measured[name]:.1f} % of the time")
        text = ", ".join(f"{name} {share:.1f} % (guest: {measured[name]:.1f} %)" for name, share in shares.items())
        return found, (f"{self.busy} samples: {text}, {self.interrupts} in interrupts, "
                       f"{100 * self.whole / max(self.busy, 1):.2f} % as the source says, {dict(self.levels)}")

    def others(self):
        """Failures that are no work of the host's."""
        found = []
        if 100 * self.whole < WHOLE_PERCENT * self.busy:
            found.append(f"{self.busy - self.whole} of {self.busy} stacks are not as the source says: "
                         f"{self.wrong.most_common(4)}")
        if self.interrupts < self.stacks / 500:
            found.append(f"{self.interrupts} samples of {self.stacks} are in the timer's interrupt")
        return found


def off_the_work(measured):
    """Failures of the guest's own measurement."""
    return [f"{name} has {measured[name]:.1f} % of the time for {work:g} % of the work"
            for name, (work, _) in WORK.items() if abs(work - measured[name]) > WORK_POINTS]


def samples_of(options, recording, deadline):
    text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "-i", str(recording), "-o", "-")
    return [json.loads(line) for line in text.splitlines()]


def spent(guest, since=None):
    """The percentage of the guest's time that each function had until now, since what an earlier call returned. With
    it, the ticks so far."""
    earlier = since or [0] * len(WORK)
    end = limits.step_end()
    lines = len(SPENT.findall(guest.serial()))
    while len(found := SPENT.findall(guest.serial())) <= lines:
        if time.monotonic() > end:
            raise machine.GuestError(f"the kernel did not write what it measured: {guest.serial()[-400:]}")
        time.sleep(0.02)
    ticks = [int(count) for count in found[-1]]
    passed = [now - before for now, before in zip(ticks, earlier)]
    return {name: 100 * count / sum(passed) for name, count in zip(WORK, passed)}, ticks


def by_engine(options, engine, case, guest, kernel, folder, deadline):
    """The verdict on a recording by that engine (findings.py)."""
    _, before = spent(guest)
    # The monitor is slower, loses most on a busy host, and does not print the mode of a vCPU.
    by_text = engine == "qmp"
    options.interval = TEXT_INTERVAL if by_text else INTERVAL
    recording = every_engine.record(options, engine, guest, kernel, folder, deadline,
                                    ["--samples", str(options.samples), "--duration", f"{options.seconds:g}"])
    measured, _ = spent(guest, before)
    verdict = Verdict(samples_of(options, recording, deadline), CASES[case][4], not by_text)
    shares, line = verdict.shares(measured)
    print(f"{case}, {engine}: {line}")
    found = findings.Findings(options.ringside, deadline)
    found.add_shares([f"{case}, {engine}: {text}" for text in shares], recording)
    found.add(*(f"{case}, {engine}: {text}" for text in verdict.others() + off_the_work(measured)))
    least = options.samples // (40 if by_text else 4)
    if verdict.busy < least:
        found.add_few([f"{case}, {engine}: {verdict.busy} samples, {least} wanted"], recording, least)
    return found.verdict()


def without_a_file(options, case, guest, kernel, folder, deadline):
    """Without a file that describes it, a kernel counts as firmware, and ringside names the option to give."""
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    recording = folder / "nothing.data"
    result = subprocess.run([options.ringside, "record", "--gdb", guest.gdb, "--samples", "200", *limits.ENOUGH_TIME, "-o",
                             str(recording)], cwd=empty, stdin=subprocess.DEVNULL, text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limits.STEP)
    report = launched.read_back(options.ringside, deadline, "report", "-i", str(recording), "--header")
    failures = []
    firmware = sum(sample["level"] == "firmware" for sample in samples_of(options, recording, deadline)
                   if sample.get("disposition") == "sampled")
    if case == "riscv64":  # named later, by the kernel's file
        text = launched.folded_text(options.ringside, recording, deadline, "--kernel", str(kernel))
        if not all(f";{name} " in text or f"\n{name} " in "\n" + text for name in ("spin_half", "spin_third")):
            failures.append(f"{case}: with the kernel's file given later there is no spin_half or spin_third: {text[:400]}")
    if firmware < 150:  # all but what runs below the kernel
        failures.append(f"{case}: {firmware} of 200 samples of an unknown kernel are firmware")
    said = f"{MODES[case]}, outside of any known kernel"
    for what, text in (("record", result.stdout), ("report", report)):
        if said not in text or "--kernel FILE" not in text:
            failures.append(f"{case}: {what} does not say '{said}': {text[-600:]}")
    return failures


def with_a_file_of_no_use(options, case, kernel, folder, deadline):
    """A kernel that QEMU starts as it is, without a file that describes it: code in the kernel."""
    image = folder / "kernel.bin"
    subprocess.run(["llvm-objcopy", "-O", "binary", str(kernel), str(image)], check=True, stdin=subprocess.DEVNULL)
    empty = folder / "launched"
    empty.mkdir(exist_ok=True)
    kernel.rename(folder / "hidden")
    try:
        recording = launched.record(options.ringside, ["--samples", "1000", "--interval", "1"],
                                    [*CASES[case][0], "-display", "none", "-serial", "null", "-kernel", str(image)],
                                    empty, deadline)
    finally:
        (folder / "hidden").rename(kernel)
    levels = collections.Counter(sample["level"] for sample in samples_of(options, recording, deadline)
                                 if sample.get("disposition") == "sampled")
    named = launched.read_back(options.ringside, deadline, "report", "-i", str(recording), "--kernel", str(kernel))
    failures = []
    if levels["firmware"]:
        failures.append(f"{case}: a machine without firmware has samples of it: {dict(levels)}")
    if "spin_half" not in named:
        failures.append(f"{case}: report --kernel names nothing: {named[-600:]}")
    return failures


def by_each_engine(options, case, kernel, folder, deadline):
    """Verdicts that are not 0. Engines whose recordings are right are not tried again."""
    qemu = [CASES[case][0][0], *machine.BASE[1:], *CASES[case][0][1:]]
    failures, verdicts = [], []
    is_first = case not in options.left
    # The monitor prints no system registers of aarch64.
    engines = options.left.setdefault(case, [one for one in options.engines if one != "qmp" or case == "riscv64"])
    with tempfile.TemporaryDirectory(dir=folder) as ring, machine.Machine(
            kernel, "", cpus=1, memory=128, base=qemu, extra=every_engine.plugin_options(options, pathlib.Path(ring))) as guest:
        for engine in list(engines):
            if verdict := by_engine(options, engine, case, guest, kernel, pathlib.Path(ring), deadline):
                verdicts.append(verdict)
            else:
                engines.remove(engine)
        if is_first:
            failures += without_a_file(options, case, guest, kernel, folder, deadline)
    if is_first and case == "riscv64":
        failures += with_a_file_of_no_use(options, case, kernel, folder, deadline)
    for line in failures:
        print(f"FAILED: {line}")
    return verdicts + failures


def run(options, folder, deadline):
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
    verdicts = [verdict for case in options.cases
                for verdict in by_each_engine(options, case, build(case, folder), folder, deadline)]
    silent = [verdict for verdict in verdicts if verdict not in (launched.BENT, launched.CROWDED)]
    return [*silent, *verdicts, 0][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every_engine.add_options(parser)
    parser.add_argument("cases", nargs="*", metavar="CASE", default=list(CASES))
    parser.add_argument("--samples", type=int, default=2000,
                        help="of each recording (default 2000); a quarter is enough on a busy host, a fortieth of the monitor")
    parser.add_argument("--seconds", type=float, default=10, help="that a recording may take (default 10)")
    parser.set_defaults(plugin_interval=1)
    parser.add_argument("--tries", type=int, default=5, help="at most, where those before say that they are bent (default 5)")
    options = parser.parse_args()
    options.engines = options.engines or every_engine.ENGINES
    options.left = {}  # engines by case that have no right recording yet
    missing = [tool for tool in ("clang", "ld.lld", "llvm-objcopy", *{CASES[case][0][0] for case in options.cases})
               if not shutil.which(tool)]
    if missing:
        print(f"skipped: there is no {', '.join(missing)}")
        return launched.SKIPPED
    return launched.truthful("ringside-high-mode-", options, run)


if __name__ == "__main__":
    sys.exit(main())
