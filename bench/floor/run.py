#!/usr/bin/env python3
"""Measures what the guest pays for a plugin that does nothing: the least that any sampling plugin costs.

Each round boots a guest without a plugin, a second one without (how far two of the same are apart), and one for each way
in which QEMU could call a plugin when a sample is due (plugin.cpp). Each workload is done by all of them in turns of
20 to 40 ms, in random order, all vCPUs on one processor; the least time of each guest counts. The
workloads are those of `script/bench overhead`.

Prints, for each workload and way, the mean overhead of the rounds and its 95 % interval. Exit status: 0 done, 1 failed,
2 wrong usage, 3 no network.
"""
import argparse
import contextlib
import os
import pathlib
import random
import sys
import tempfile

import guest_image
import measurement
import paired
from guest import Guest
from ringside_tests.harness import linux_guest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = {"compute": 50_000, "syscalls": 12_000, "forks": 60, "programs": 3, "tight": 12_000_000}
WITHOUT = "without"
WAYS = {WITHOUT: None, "without, again": None, "translation": "", "callback in all blocks": ",check=callback",
        "callback in some": ",check=callback,in=some", "store in all blocks": ",check=store",
        "store in some": ",check=store,in=some"}


def least_times(guests, turns):
    """The least time of each guest for each workload, in seconds; guests: by way."""
    times = {}
    for workload, count in WORKLOADS.items():
        for guest in guests.values():
            guest.work(workload, count)  # its code is translated
        for _ in range(turns):
            for way in random.sample(list(guests), len(guests)):
                spent = guests[way].work(workload, count)
                times[workload, way] = min(spent, times.get((workload, way), spent))
    return times


def run(options):
    paths = linux_guest.fetch(vmlinux=False)
    pairs = {(workload, way): [] for workload in WORKLOADS for way in WAYS if way != WITHOUT}
    processors = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="ringside-floor-") as folder:
        initrd = guest_image.build(folder)
        for number in range(options.rounds):
            print(f"floor: round {number + 1} of {options.rounds}", file=sys.stderr)
            with contextlib.ExitStack() as stack:
                guests = {}
                for way, arguments in WAYS.items():
                    plugin = None if arguments is None else f"{options.plugin}{arguments}"
                    guests[way] = stack.enter_context(Guest(paths, initrd, plugin))
                    os.sched_setaffinity(guests[way].vcpu, {processors[-1]})
                times = least_times(guests, options.turns)
            for (workload, way), list_ in pairs.items():
                list_.append((times[workload, WITHOUT], times[workload, way]))
    for (workload, way), list_ in pairs.items():
        found = paired.overhead(list_)
        print(f"{workload:10}{way:24}{found.mean * 100:+6.1f} %  ({found.low * 100:+.1f} … {found.high * 100:+.1f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="at least 2 (default 15)")
    parser.add_argument("--turns", type=int, default=8, help="runs of each guest in a round (default 8)")
    parser.add_argument("--plugin", type=os.path.abspath, default=str(ROOT / "build/release/bench/floor/floor.so"))
    options = parser.parse_args()
    if options.rounds < 2 or options.turns < 1:
        parser.error("--rounds is 2 at least, --turns 1")
    if not os.path.exists(options.plugin):
        parser.error(f"no file {options.plugin}: script/bench floor builds it")
    return measurement.exit_status("floor", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
