#!/usr/bin/env python3
"""Measures what ringside itself uses while it records Debian's kernel through the plugin, attached to a QEMU that runs.

Each build has a QEMU with its own plugin; the builds take turns, and those that wait are held by SIGSTOP. A turn is three
recordings: of one sample, of a second and of --seconds, all at 1 kHz, with the kernel's boot image as --kernel. A guest
with one vCPU runs a workload: "mixed" starts some 70 programs a second, "spin" one program.

Prints, for each build and workload, medians of the turns: processor time for each sample (the long recording less the
short one); seconds from ringside's start to its end for one sample; processor time of that; peak resident memory and size
of the long recording; and samples taken, of those due. The first turn is left out: what is kept from one run to the next
is kept then. Exit status: 0 done, 1 failed, 2 wrong usage, 3 no network.
"""
import argparse
import contextlib
import dataclasses
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import measurement
import turns
from ringside_tests.harness import linux_guest, machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLUGIN = "plugin/libringside-tcg.so"
SETTLE = 1  # seconds that a guest runs before it is recorded


@dataclasses.dataclass
class Run:
    """One recording: seconds of processor time and from start to end, bytes, and vCPU ticks."""
    processor: float
    elapsed: float
    resident: int
    size: int
    taken: int
    due: int


class Build:
    """A ringside, and a guest in a QEMU with its plugin, which is held."""

    def __init__(self, folder, paths, workload):
        self._files = tempfile.TemporaryDirectory(prefix="ringside-recording-")
        self._recording = pathlib.Path(self._files.name, "ringside.data")
        self._ringside = pathlib.Path(folder, "ringside")
        self._kernel = paths["VMLINUZ"]
        ring = f"{self._files.name}/ring"
        self._machine = machine.Machine(
            kernel=self._kernel, initrd=paths["INITRD"], cpus=1, append=linux_guest.append(paths, workload),
            extra=["-plugin", f"{folder}/{PLUGIN},ring={ring}"], base=linux_guest.base(paths))
        self._attach = ["--ring", ring, "--qmp", self._machine.monitor]
        self._machine.wait_serial(linux_guest.READY, 120)
        turns.hold(self._machine.process.pid)

    def close(self):
        turns.let_go(self._machine.process.pid)
        self._machine.close()
        self._files.cleanup()

    def turn(self, seconds):
        """Runs of one sample, of a second and of so many."""
        turns.let_go(self._machine.process.pid)
        time.sleep(SETTLE)
        try:
            return [self._record(*until) for until in (("--samples", 1), ("--duration", 1), ("--duration", seconds))]
        finally:
            turns.hold(self._machine.process.pid)

    def _record(self, *until):
        command = [self._ringside, "record", *self._attach, "--kernel", self._kernel, "--interval", "1", *until,
                   "-o", self._recording]
        begun = time.monotonic()
        with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            said = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            elapsed = time.monotonic() - begun
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise machine.GuestError(f"{command}: {said}")
        return Run(used.ru_utime + used.ru_stime, elapsed, used.ru_maxrss * 1024, self._recording.stat().st_size,
                   *self._ticks())

    def _ticks(self):
        report = subprocess.run([self._ringside, "report", "--header", "-i", self._recording], check=True, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

        def count(word):
            found = re.search(rf"^#\s+{word}\s+([\d,]+)", report, re.MULTILINE)
            return int(found.group(1).replace(",", "")) if found else 0
        taken = count("sampled")
        return taken, taken + count("lost")


def line(taken):
    """The medians of turns that were taken: of each its three runs."""
    def median(value):
        return statistics.median(map(value, taken))

    def for_a_sample(runs):
        _, short, long = runs
        return (long.processor - short.processor) / (long.taken - short.taken) * 1e6
    return (f"{median(for_a_sample):6.0f} us a sample, one sample {median(lambda runs: runs[0].elapsed):.2f} s "
            f"({median(lambda runs: runs[0].processor):.2f} s processor), "
            f"{median(lambda runs: runs[2].resident) / 2**20:.0f} MiB, "
            f"file {median(lambda runs: runs[2].size) / 1000:.0f} kB, "
            f"{median(lambda runs: runs[2].taken / runs[2].due):.1%} of the samples taken")


def run(options):
    paths = linux_guest.fetch(vmlinux=False)
    for workload in options.workloads:
        with contextlib.ExitStack() as stack:
            builds = {}
            for folder in options.builds:
                builds[folder] = Build(folder, paths, workload)
                stack.callback(builds[folder].close)
            taken = {folder: [] for folder in builds}
            for number in range(options.rounds + 1):
                for folder, build in builds.items():
                    taken[folder].append(build.turn(options.seconds))
                    print(f"recording: {workload}: round {number} of {options.rounds}: {line(taken[folder][-1:])}",
                          file=sys.stderr)
            for folder in builds:
                print(f"{workload:6} {folder}: {line(taken[folder][1:])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", dest="builds", action="append", type=os.path.abspath,
                        help="a build folder with ringside and plugin/; may be given again (default: build/release)")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each build behind the first (default 5)")
    parser.add_argument("--seconds", type=int, default=10, help="of the long recording (default 10)")
    parser.add_argument("--workloads", default="mixed,spin", help="a list with commas (default: mixed,spin)")
    options = parser.parse_args()
    options.builds = options.builds or [str(ROOT / "build/release")]
    options.workloads = options.workloads.split(",")
    if options.rounds < 1 or options.seconds < 2:
        parser.error("--rounds is 1 at least, --seconds 2")
    for folder in options.builds:
        if not os.path.exists(f"{folder}/{PLUGIN}"):
            parser.error(f"no file {folder}/{PLUGIN}")
    return measurement.exit_status("recording", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
