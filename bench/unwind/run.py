#!/usr/bin/env python3
"""Unwinds captured kernel stacks by ringside's rule sources, by elfutils' libdwfl and by libunwind, side by side.

Boots Debian's cloud kernel (workload mixed) and the bundled kernel with frame pointers, records captures of both,
and unwinds them in one process, all ways in turns. Prints tables; --out FILE.json writes the numbers.
Exit status: 0 done, 1 failed, 2 wrong usage, 3 no network.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import result
from ringside_tests.harness import launched, linux_guest, machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD_SECONDS = 120
TABLES = ["orc", "cfi", "full_walk", "libdwfl", "libunwind"]


def record_linux(options, folder):
    paths = linux_guest.fetch()
    qemu = linux_guest.base(paths) + [
        "-smp", "2", "-m", "512", "-serial", "stdio", "-kernel", paths["VMLINUZ"], "-initrd", paths["INITRD"],
        "-append", linux_guest.append(paths, "mixed", kaslr=False), *linux_guest.disk(folder)]
    record(options, folder, paths["VMLINUX"], linux_guest.READY, qemu)


def record_demo(options, folder):
    kernel = options.build / "demo" / "kernel" / "ringside-demo-fp.elf"
    qemu = ["qemu-system-x86_64", "-accel", "tcg", "-m", "256", "-smp", "2", "-display", "none", "-no-reboot",
            "-serial", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-kernel", str(kernel),
            "-append", "workload=interrupts seconds=0"]
    record(options, folder, kernel, "ringside-demo: ready", qemu)


def record(options, folder, kernel, ready, qemu):
    """Takes a quarter more kernel samples than wanted: some stacks are not complete."""
    how = ["--keep-captures", "--kernel-only", "--kernel", str(kernel), "--interval", "2", "--after", ready,
           "--samples", str(options.stacks * 5 // 4)]
    launched.record(options.build / "ringside", how, qemu, folder, time.monotonic() + RECORD_SECONDS)


def run_program(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise launched.Failed(f"{command[0].name} ended with status {done.returncode}: {done.stderr[-800:]}")
    return json.loads(done.stdout)


def measure(options, linux, demo):
    program = options.build / "bench" / "unwind" / "unwind_bench"
    limit = ["--stacks", str(options.stacks)]
    walks = run_program([program, "--benchmark_format=json", f"--benchmark_repetitions={options.rounds}",
                         "--benchmark_enable_random_interleaving=true", "--benchmark_min_time=0.05",
                         "--benchmark_report_aggregates_only=true", "--frame-pointers", demo, *limit, linux])
    # First use, each way in a process of its own.
    once = {way: run_program([program, "--once", way, *limit, linux]) for way in TABLES}
    once["frame_pointers"] = run_program([program, "--once", "frame_pointers", *limit, demo])
    return {"benchmark": walks, "once": once}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, help="write the numbers as JSON to this file")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release",
                        help="a build with RINGSIDE_BENCH and RINGSIDE_DEMO (default build/release)")
    parser.add_argument("--stacks", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the recordings; those that are there are used")
    options = parser.parse_args()
    options.build = options.build.resolve()
    return options


def recordings(options, folder):
    found = []
    for name, take in (("linux", record_linux), ("demo", record_demo)):
        place = folder / name
        place.mkdir(exist_ok=True)
        if not (place / "ringside.data").exists():
            take(options, place)
        found.append(place / "ringside.data")
    return found


def run(options, folder):
    print("unwind: recording", file=sys.stderr)
    linux, demo = recordings(options, folder)
    print("unwind: measuring", file=sys.stderr)
    outcome = measure(options, linux, demo)
    summary = result.summarise(outcome["benchmark"], outcome["once"])
    print("\n".join(result.table(summary)))
    if options.out:
        options.out.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")


def main():
    options = parse_options()
    machine.exit_on_signals()
    if not os.access(options.build / "bench" / "unwind" / "unwind_bench", os.X_OK):
        print("unwind: build first: script/build release -DRINGSIDE_BENCH=ON", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory(prefix="ringside-unwind-") as folder:
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
            run(options, (options.keep or pathlib.Path(folder)).resolve())
    except linux_guest.NoNetwork as error:
        print(f"unwind: skipped: {error}", file=sys.stderr)
        return linux_guest.NO_NETWORK
    except (launched.Failed, machine.GuestError, OSError, ValueError) as error:
        print(f"unwind: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
