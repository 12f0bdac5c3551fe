#!/usr/bin/env python3
"""Measures how many of a user's stops are lost while ringside samples, beside the share of time that the guest stands still.

Each engine that stops the guest samples the bundled kernel's `chains` at the default rate. First QEMU's own STOP and RESUME
events give the share of time that the guest stands still, samples that ringside throws away included. Then a second
monitor issues `stop` at random moments; one is lost where the guest runs afterwards. Prints a line for each engine, with
busy loops beside it and without. Exit status: 0 done, 1 failed, 2 wrong usage.
"""
import argparse
import contextlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import pauses
from ringside_tests.harness import limits, machine, program, qmp

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINES = ("gdb", "qmp", "monitor")
LOOP = "while :; do :; done"
LOOKS = 6  # at the state after a stop: one may meet a sample's stop


@contextlib.contextmanager
def busy(loops):
    processes = [subprocess.Popen(["sh", "-c", LOOP], start_new_session=True) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            machine.end_process(process)


def standing_share(guest, seconds):
    """The share of time, and the stops a second."""
    guest.qmp.take_events()
    guest.qmp.listen(seconds)
    stops = pauses.pair(guest.qmp.take_events())
    return sum(stops) / seconds, len(stops) / seconds


def is_lost(guest):
    """Whether the guest runs on after a stop."""
    guest.qmp.command("stop")
    for _ in range(LOOKS):
        time.sleep(random.uniform(0.01, 0.03))
        if guest.qmp.status() == "running":
            return True
    return False


def lost_stops(guest, tries):
    lost = 0
    for _ in range(tries):
        time.sleep(random.uniform(0.05, 0.15))
        lost += is_lost(guest)
        guest.qmp.command("cont")
        time.sleep(0.15)  # ringside looks for it ten times a second
    return lost


def measure(options, engine, folder):
    with machine.Machine(options.kernel, "workload=chains seconds=0", cpus=options.cpus, memory=128) as guest:
        guest.wait_serial("ringside-demo: ready", limits.STEP)
        if engine == "qmp":
            guest.qmp.hmp("gdbserver none")
        attach = ["--gdb", guest.gdb] if engine == "gdb" else ["--qmp", guest.monitor, "--leave-stub"]
        command = [options.ringside, "record", *attach, "--kernel", options.kernel, "-o", f"{folder}/ringside.data"]
        with program.Program(command, f"{folder}/log") as ringside:
            if not ringside.wait_said("ringside: sampling", limits.STEP):
                raise machine.GuestError(f"ringside does not sample; it said: {ringside.said()[-600:]}")
            share, rate = standing_share(guest, options.seconds)
            lost = lost_stops(guest, options.tries)
    return share, rate, lost


def run(options):
    print(f"{'engine':<8} {'loops':>5} {'stops/s':>8} {'standing':>9} {'lost':>12}")
    for loops in (0, options.loops):
        with busy(loops):
            for engine in options.engines:
                with tempfile.TemporaryDirectory(prefix="ringside-stops-") as folder:
                    share, rate, lost = measure(options, engine, folder)
                print(f"{engine:<8} {loops:>5} {rate:>8.0f} {share:>8.1%} {lost:>4} of {options.tries} "
                      f"({lost / options.tries:.0%})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", type=os.path.abspath, default=str(ROOT / "build/release/ringside"))
    parser.add_argument("--kernel", type=os.path.abspath,
                        default=str(ROOT / "build/release/demo/kernel/ringside-demo-fp.elf"))
    parser.add_argument("--engines", type=lambda text: text.split(","), default=list(ENGINES))
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5, help="of the first part (default 5)")
    parser.add_argument("--tries", type=int, default=60, help="a user's stops (default 60)")
    parser.add_argument("--loops", type=int, default=6, help="busy ones (default 6)")
    options = parser.parse_args()
    machine.exit_on_signals()
    try:
        run(options)
    except (machine.GuestError, qmp.QmpError, OSError) as error:
        print(f"stops: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
