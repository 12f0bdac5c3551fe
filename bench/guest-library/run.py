#!/usr/bin/env python3
"""Measures what it costs that a guest samples itself: in the guest, and for ringside beside it.

In the guest: instructions of the guest library's calls, which the bundled kernel counts itself under -icount shift=0. Beside
it: processor time for each sample, peak resident memory and the share of samples that were lost, of a ringside that reads
the rings of a kernel that takes --rate samples a second of each of its vCPUs, for --seconds; it is measured again after
as long, for growth. Exit status: 0 done, 1 failed, 2 wrong usage.
"""
import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

from ringside_tests.harness import launched, machine
from ringside_tests.judges import report_totals

ROOT = pathlib.Path(__file__).resolve().parents[2]
COST = re.compile(r"cost frames=(\d+) walk=(\d+) sample=(\d+) allocation=(\d+)")
LIMIT = 60


def kernel(build):
    return build / "demo/kernel/ringside-demo-fp.elf"


def print_instructions(options):
    """Boots the kernel where each instruction is a nanosecond, and prints what it has counted."""
    command = [machine.BASE[0], "-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", *machine.BASE[3:], "-m", "256",
               "-smp", "1", "-serial", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-kernel",
               str(kernel(options.build)), "-append", "workload=chains sampling=timer ring=65536 cost=1 seconds=1"]
    said = subprocess.run(command, check=False, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          timeout=LIMIT).stdout
    rows = COST.findall(said)
    if not rows:
        raise launched.Failed(f"the kernel prints no costs: {said[-400:]}")
    print("instructions in the guest:")
    for frames, walk, sample, allocation in rows:
        print(f"  {frames:>3} frames: walk {walk}, sample {sample}, allocation {allocation}")


def record(options, guest, folder, seconds):
    """(processor seconds, peak bytes) of one recording, and its statistics."""
    recording = folder / "ringside.data"
    command = [str(options.build / "ringside"), "record", "--engine", "ring", "--qmp", guest.monitor, "--kernel",
               str(kernel(options.build)), "--duration", str(seconds), "-o", str(recording)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env=machine.private_environment(folder))
    try:
        said = process.communicate(timeout=seconds + LIMIT)[1]
    finally:
        machine.end_process(process)
    if process.returncode:
        raise launched.Failed(f"ringside ended with {process.returncode}: {said[-400:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    report = launched.read_back(str(options.build / "ringside"), time.monotonic() + LIMIT, "report", "--header", "--stdio",
                                "-i", str(recording))
    return used, after.ru_maxrss * 1024, report_totals.statistics(report), recording.stat().st_size


def print_beside(options, folder):
    append = f"workload=chains seconds=0 sampling=nmi ring=65536 rate={options.rate}"
    with machine.Machine(kernel(options.build), append, cpus=options.cpus + 1, memory=256) as guest:
        guest.wait_serial("ringside-demo: ready", LIMIT)
        print(f"ringside beside a guest that takes {options.rate} samples a second of each of {options.cpus} vCPUs:")
        for seconds in (options.seconds, options.seconds):
            used, peak, numbers, size = record(options, guest, folder, seconds)
            sampled = numbers["sampled"]
            print(f"  {seconds} s: {sampled} samples ({sampled / seconds / options.cpus:.0f} a second of a vCPU), "
                  f"{numbers['lost']} lost; {used / sampled * 1e6:.2f} us of processor time a sample "
                  f"({100 * used / seconds:.1f} % of a processor), peak {peak / 2**20:.1f} MiB, "
                  f"{size / sampled:.1f} bytes a sample")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=lambda path: pathlib.Path(path).resolve(), default=ROOT / "build/release")
    parser.add_argument("--rate", type=int, default=10000)
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=20)
    options = parser.parse_args()
    machine.exit_on_signals()
    with tempfile.TemporaryDirectory(prefix="ringside-library-") as folder:
        try:
            print_instructions(options)
            print_beside(options, pathlib.Path(folder))
        except (launched.Failed, machine.GuestError, OSError, subprocess.SubprocessError) as error:
            print(f"FAILED: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
